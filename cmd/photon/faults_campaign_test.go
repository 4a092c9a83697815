//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"photon/internal/testnet"
)

// Who sits at the ports of the switch of a campaign, in their order; the memif is the last.
const (
	victim         = 2 // whose link and peer have faults
	sendingAgent   = 4
	receivingAgent = 5
	memifPort      = 6
)

// lostOnPurpose is the queue pair whose CNPs are lost, and lostWith the priority that an XON which is to be lost names
// beside its own.
const (
	lostOnPurpose = 77
	lostWith      = 6
)

// campaign is a switch with two workers under load: four hosts of raw frames, and two agents.
type campaign struct {
	*operated
	stations   [4]*station
	streams    []*sequence
	agents     [2]*process
	flowSocket string    // the admin socket of the agent that sends
	memif      string    // the socket of a server that is not there
	reload     int       // of reloads
	differs    [4][2]int // by what the kernel's counts of each host differed from the switch's when it was last looked

	resting sync.RWMutex // held by who has the senders rest
	stop    chan struct{}
	running sync.WaitGroup
}

func newCampaign(t *testing.T) *campaign {
	t.Helper()
	dir := t.TempDir()
	l := newFourHosts(t)
	silent(t, append(l.hosts[:], l.sw)...)
	c := &campaign{
		operated: &operated{
			fourHosts: l, t: t, file: filepath.Join(dir, "switch.yaml"), socket: filepath.Join(dir, "sw.sock"),
		},
		flowSocket: filepath.Join(dir, "agent.sock"), memif: filepath.Join(dir, "memif.sock"), stop: make(chan struct{}),
	}
	var homes [2]*testnet.Namespace
	for i := range homes {
		homes[i] = testnet.New(t, fmt.Sprintf("a%d", i))
		testnet.Veth(t, homes[i], "eth0", l.sw, fmt.Sprintf("sw%d", sendingAgent+i))
	}
	c.configure(c.lines(0))
	c.process = start(t, l.sw, "switch", "-c", c.file)
	c.until("who is at a memif is waited for", func() bool { return c.timesLogged("port net_memif0: link down") > 0 })
	for i, h := range l.hosts {
		c.stations[i] = newStation(c, i, h)
	}
	for _, s := range []*sequence{
		{from: 1, to: 0}, {from: 3, to: 0}, {from: 0, to: 1}, {from: 1, to: victim}, {from: victim, to: 0},
	} {
		c.streams = append(c.streams, s)
		c.stations[s.to].from[s.from] = s
	}
	for _, s := range c.stations {
		c.running.Go(func() { s.listen(c.stop) })
	}
	for i := receivingAgent; i >= sendingAgent; i-- {
		file := filepath.Join(dir, fmt.Sprintf("agent%d.yaml", i))
		text := fmt.Sprintf("name: h%d\nip: 10.9.0.%d\n", i, i+1) +
			"port: {device: \"net_af_packet0,iface=eth0\", rate: 100Mbps}\n" +
			"scheme: {name: pcn, params: {period: 5ms}}\nretries: 100\n"
		if i == sendingAgent {
			text += fmt.Sprintf("admin: %s\nflows: [{to: 10.9.0.%d, qp: 1}]\n", c.flowSocket, receivingAgent+1)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.agents[i-sendingAgent] = start(t, homes[i-sendingAgent], "agent", "-c", file)
	}
	c.resting.Lock() // who rests counts
	for host := range c.stations {
		c.differs[host] = c.difference(host)
	}
	c.resting.Unlock()
	c.load()
	return c
}

// silent has the kernels of some namespaces say nothing of their own: every frame in the cables is counted by who sent
// it.
func silent(t *testing.T, all ...*testnet.Namespace) {
	t.Helper()
	for _, n := range all {
		n.Run(t, "sh", "-c", "for i in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 > $i; done")
	}
}

// profiles is where the switch gives Go's profiles, of its heap for example.
const profiles = "127.0.0.1:6060"

// lines are those of the switch's file beside its ports, for a turn of reloads. The headroom is for a third of a second
// without a poll: the machine may have other work.
func (c *campaign) lines(turn int) string {
	return "metrics: 127.0.0.1:9464\npprof: " + profiles + "\nlive: {listen: 127.0.0.1:9471}\n" +
		"rate: 100Mbps\nlossy_queue: 40KB\n" +
		"dpdk: {workers: 2, garbage: 8MB, frames: 81920}\n" +
		fmt.Sprintf("forwarding: {static: [{mac: '%v', port: %d}]}\n", mac(victim), victim) +
		fmt.Sprintf("pfc: {xoff: %dKB, headroom: 4MB, ", 20+10*(turn%3)) +
		"watchdog: {detect: 1500ms, restore: 200ms, action: drop}}\n" +
		fmt.Sprintf("scheme: {name: pcn}\nweights: {0: %d, 1: 2}\n", 1+turn%2)
}

// configure makes the switch's file.
func (c *campaign) configure(lines string) {
	c.t.Helper()
	text := "name: sw\nadmin: " + c.socket + "\nports:\n"
	for i := range memifPort {
		text += fmt.Sprintf("- device: net_af_packet%d,iface=sw%d,framesz=2048,blocksz=65536,framecnt=8192\n", i, i)
		switch i {
		case victim:
			text += fmt.Sprintf("  impair: {rules: [{do: lose, frames: xon, priority: %d}]}\n", lostWith)
		case receivingAgent: // slower than who sends to it, so that it has something to notify
			text += fmt.Sprintf("  rate: 20Mbps\n  impair: {rules: [{do: lose, frames: cnp, queue_pair: %d}]}\n", lostOnPurpose)
		}
	}
	text += fmt.Sprintf("- device: net_memif0,role=client,socket-abstract=no,socket=%s\n", c.memif)
	if err := os.WriteFile(c.file, []byte(text+lines), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// end has all traffic end and returns how many lossless frames arrived. The switch then checks that it has every
// frame's buffer back.
func (c *campaign) end() (frames int) {
	c.t.Helper()
	close(c.stop)
	c.running.Wait()
	for _, s := range c.streams {
		frames += int(s.got.Load())
	}
	c.t.Logf("longest poll gap %.3g s", sum(c.process.metrics(), "photon_worker_poll_gap_max_seconds"))
	for _, a := range c.agents {
		a.stop()
	}
	c.process.stop()
	return frames
}

// recovered waits until every stream goes on, the victim's too, and the agents' flow, and returns how long that took.
func (c *campaign) recovered(name string) time.Duration {
	c.t.Helper()
	begin := time.Now()
	var goal []uint32
	for _, s := range c.streams {
		goal = append(goal, s.got.Load()+10)
	}
	data := c.atAgent() + 10
	within(c.t, func() bool {
		for i, s := range c.streams {
			if s.steady() && s.got.Load() < goal[i] {
				return false
			}
		}
		return c.atAgent() >= data
	}, func() string {
		text := fmt.Sprintf("%s: this does not go on within a minute:", name)
		for i, s := range c.streams {
			text += fmt.Sprintf("\nfrom host %d to host %d: %d sent, %d arrived, %d expected",
				s.from, s.to, s.sent.Load(), s.got.Load(), goal[i])
		}
		return fmt.Sprintf("%s\n%v frames sent to the agent, %v expected\n%s\n%s",
			text, c.atAgent(), data, c.process.log, c.agents[0].log)
	})
	return time.Since(begin)
}

// atAgent is how many data frames went to the agent that receives.
func (c *campaign) atAgent() float64 {
	return c.metric("photon_port_tx_packets_total", fmt.Sprintf(`port="sw%d"`, receivingAgent), `priority="3"`)
}

// waitUntilArrived stops the senders until what they sent has arrived, or no more of it comes.
func (c *campaign) waitUntilArrived() {
	c.resting.Lock()
	for quiet, before := time.Now(), uint32(0); ; time.Sleep(10 * time.Millisecond) {
		sent, got := uint32(0), uint32(0)
		for _, s := range c.streams {
			sent, got = sent+s.sent.Load(), got+s.got.Load()
		}
		if sent == got {
			return
		}
		if got != before {
			quiet, before = time.Now(), got
		}
		if time.Since(quiet) > time.Second { // longer than any pause
			return
		}
	}
}

// resume has them send again.
func (c *campaign) resume() {
	for _, s := range c.streams { // what was lost was told
		s.forget()
	}
	c.resting.Unlock()
}
