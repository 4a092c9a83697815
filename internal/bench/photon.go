package main

import (
	"fmt"
	"os"
	"strings"
)

// photon is this program again, with a switch in it.
type photon struct{ *process }

// photonProfile is the file for a profile of it; empty: there is none.
var photonProfile string

func startPhoton(c testCase, _ string, environment []string) (contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	arguments := []string{"-child", "-cpuprofile", photonProfile}
	arguments = append(arguments, "-kinds", c.name, "-vdev", c.Vdev, "-ports", fmt.Sprint(c.Ports))
	if c.sockets != "" {
		arguments = append(arguments, "-sockets", c.sockets)
	}
	if !c.mixed {
		arguments = append(arguments, "-bytes", fmt.Sprint(c.Bytes))
	}
	p, err := startProcess(environment, self, arguments...)
	if err != nil {
		return nil, err
	}
	if _, err := p.expect("ready"); err != nil {
		return nil, err
	}
	return &photon{p}, nil
}

// begin has it count from now on.
func (p *photon) begin() error {
	if err := p.say("begin"); err != nil {
		return err
	}
	_, err := p.expect("begun")
	return err
}

func (p *photon) forwarded() (n uint64, err error) {
	if err := p.say("count"); err != nil {
		return 0, err
	}
	l, err := p.expect("forwarded ")
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscanf(l, "forwarded %d", &n)
	return n, err
}

func (p *photon) finish() (string, error) {
	if err := p.say("stop"); err != nil {
		return "", err
	}
	notes, err := p.expect("saw ")
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(notes, "saw "), p.end()
}
