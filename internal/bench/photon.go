package main

import (
	"fmt"
	"os"
)

// photon is this program again, with a switch in it.
type photon struct{ *process }

func startPhoton(c testCase, _ string) (contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(self, "-child", "-vdev", c.Vdev, "-bytes", fmt.Sprint(c.Bytes), "-ports", fmt.Sprint(c.Ports))
	if err != nil {
		return nil, err
	}
	if _, err := p.expect("ready"); err != nil {
		return nil, err
	}
	return &photon{p}, nil
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
	return notes, p.end()
}
