package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed generator.c
var generatorSource []byte

// buildGenerator compiles the generator.
func buildGenerator(dir string) (program string, err error) {
	source, program := filepath.Join(dir, "generator.c"), filepath.Join(dir, "generator")
	if err := os.WriteFile(source, generatorSource, 0o600); err != nil {
		return "", err
	}
	flags, err := exec.Command("pkg-config", "--cflags", "libdpdk").Output()
	if err != nil {
		return "", fmt.Errorf("pkg-config libdpdk: %w", err)
	}
	arguments := append([]string{"-O3", "-Wall", "-o", program, source}, strings.Fields(string(flags))...)
	arguments = append(arguments, "-lrte_ethdev", "-lrte_mbuf", "-lrte_mempool", "-lrte_ring", "-lrte_net", "-lrte_eal")
	if out, err := exec.Command("gcc", arguments...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc: %w: %s", err, out)
	}
	return program, nil
}

// generator is the process that sends and receives.
type generator struct{ *process }

// startGenerator starts it at the other ends of ports by which a contestant sends through so many queues.
func startGenerator(program, dir string, ports, queues int) (*generator, error) {
	others, _, err := cores()
	if err != nil {
		return nil, err
	}
	arguments := []string{"--lcores", fmt.Sprintf("0@%d", others), "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "--file-prefix", "bench-generator", "-m", "768"}
	for i := range ports {
		arguments = append(arguments, "--vdev", fmt.Sprintf("net_memif%d,role=server,id=%d,socket-abstract=no,socket=%s", i, i, memifSocket(dir)))
	}
	p, err := startProcess(os.Environ(), program, append(arguments, "--", fmt.Sprint(queues))...)
	if err != nil {
		return nil, err
	}
	g := &generator{p}
	_, err = g.expect("listens")
	return g, err
}

// connected waits until the contestant is at the other end of all ports.
func (g *generator) connected(ports int) error {
	want := fmt.Sprint("links ", ports)
	return wait(func() error {
		if err := g.say("links"); err != nil {
			return err
		}
		if l, err := g.expect("links "); err != nil || l != want {
			return errors.Join(err, fmt.Errorf("%s of %d", l, ports))
		}
		return nil
	})
}

// tried is what came of a trial.
type tried struct {
	offered, accepted, got uint64
	seconds                float64 // of sending
	latency                [3]float64
}

func (t tried) lost() float64 { return float64(t.offered-t.got) / float64(t.offered) }
func (t tried) rate() float64 { return float64(t.offered) / t.seconds }

// try sends so many frames from port 0 to port 1, at a rate or, if that is 0, as fast as it can.
func (g *generator) try(bytes int, rate float64, count uint64) (t tried, err error) {
	if err := g.say(fmt.Sprintf("try 0 1 %d %f %d", bytes, rate, max(count, 1))); err != nil {
		return t, err
	}
	l, err := g.expect("tried ")
	if err != nil {
		return t, err
	}
	_, err = fmt.Sscanf(l, "tried %d %d %d %f %f %f %f", &t.offered, &t.accepted, &t.got, &t.seconds, &t.latency[0], &t.latency[1], &t.latency[2])
	return t, err
}

// crowded is what came of an incast with a victim.
type crowded struct {
	wanted                uint64 // frames of each of the two senders
	victimSent, victimGot uint64
	sent, got             uint64 // to the congested port
	pauses                uint64 // PFC frames that stopped a sender
	victimLatency         float64
}

// incast has two ports send at a rate, one to a port that takes less, and the other in turns there and to one that takes
// all. Lossless frames are of a priority that has PFC.
func (g *generator) incast(bytes int, rate, drain float64, span time.Duration, lossless bool) (c crowded, err error) {
	dscp := 8
	if lossless {
		dscp = 26
	}
	if err := g.say(fmt.Sprintf("incast %d %f %f %f %d", bytes, rate, drain, span.Seconds(), dscp)); err != nil {
		return c, err
	}
	l, err := g.expect("incast ")
	if err != nil {
		return c, err
	}
	_, err = fmt.Sscanf(l, "incast %d %d %d %d %d %d %f", &c.wanted, &c.victimSent, &c.victimGot, &c.sent, &c.got, &c.pauses, &c.victimLatency)
	return c, err
}

// teach has the contestant learn which host is behind which port.
func (g *generator) teach() error {
	if err := g.say("teach"); err != nil {
		return err
	}
	_, err := g.expect("taught")
	return err
}
