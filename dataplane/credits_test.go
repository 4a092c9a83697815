package dataplane

import (
	"testing"

	"photon/credits"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// creditPeer is a peer that obeys: it sends what FCCL allows, and says so (FCTBS).
type creditPeer struct {
	r           *rig
	prio        int
	sent, limit uint16
}

func (p *creditPeer) say(limit uint16) {
	list := []credits.Packet{{Lane: uint8(p.prio), Sent: p.sent, Limit: limit}}
	b := make([]byte, credits.FrameLen(1))
	credits.Encode(b, mac(77), list)
	p.r.in(0, b, len(b))
}

func (p *creditPeer) hear() {
	for _, b := range p.r.out(0, 64) {
		list, err := credits.Decode(nil, b)
		for _, x := range list {
			if err == nil && int(x.Lane) == p.prio {
				p.limit = x.Limit
			}
		}
	}
}

func (p *creditPeer) left() uint16 { return (p.limit - p.sent) & 0xFFF }

func creditConfig(lossless uint8) SwitchConfig {
	c := config(2)
	c.Lossless, c.PFC = lossless, [8]pfc.Thresholds{}
	c.Credits = &credits.Config{Buffer: 4096}
	return c
}

// A peer that obeys credits never loses a frame of a lane, whatever of the link's own comes between.
func TestProbesTakeNoCredits(t *testing.T) {
	c := creditConfig(1 << 0)
	c.Deadlock = units.Millisecond
	r := newRig(t, c)
	p := &creditPeer{r: r}
	p.say(0)
	p.hear()
	for range 5 { // the peer's probes take no credits: they wait in no lane
		b := make([]byte, pfc.ProbeLen)
		(&pfc.Probe{Switch: 9}).Encode(b, mac(77))
		r.in(0, b, len(b))
	}
	p.hear()
	if p.left() > 4096/64 {
		t.Errorf("the peer has credits for %d blocks, and the lane has buffer for %d", p.left(), 4096/64)
	}
	blocks := c.Credits.Blocks(1040)
	for p.left() >= blocks { // port 1 gives no credits: nothing leaves
		p.sent += blocks
		r.in(0, packet(0, 1, 0, 0), 1040)
	}
	if n := r.sw.Losses(); n != 0 {
		t.Errorf("%d lossless frames are lost, of a peer that obeys: %v", n, r.stats(0).Discards[fabric.DropHeadroom])
	}
}

// With credits no port sends a PAUSE, not even to a peer that sends what it has no credits for: that is lost.
func TestNoPauseForAPeerThatOverruns(t *testing.T) {
	r := newRig(t, creditConfig(1<<3))
	p := &creditPeer{r: r, prio: 3}
	p.say(0)
	for range 10 { // port 1 gives no credits: nothing leaves
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	if n := r.stats(0).Discards[fabric.DropHeadroom][3]; n == 0 {
		t.Fatal("all had room")
	}
	for range 10 {
		for _, b := range r.out(0, 64) {
			var f pfc.Frame
			if f.Decode(b) == nil {
				t.Fatalf("a port with credits sends PFC: %+v", f)
			}
		}
		r.now += units.Millisecond
	}
	if n := r.stats(0).Ingress.Pauses[3]; n != 0 {
		t.Errorf("%d XOFF are counted", n)
	}
}

// Blocks of frames that are refused were received: CountReceived, "whether they are kept or not".
func TestRefusedFramesAreReceived(t *testing.T) {
	c := creditConfig(1 << 3)
	c.Watchdog = pfc.WatchdogConfig{Detect: 10 * us, Restore: 10 * us, Action: pfc.DropBoth}
	r := newRig(t, c)
	p := &creditPeer{r: r, prio: 3}
	p.say(0) // no credits: a storm, as soon as something waits for port 0
	p.hear()
	r.in(1, packet(1, 0, 26, 0), 1000)
	r.now += 20 * us
	r.out(0, 8)
	if r.stats(0).Watchdog.Storm != 1<<3 {
		t.Fatalf("no storm: %+v", r.stats(0).Watchdog)
	}
	for range 3 {
		p.sent += c.Credits.Blocks(1000)
		r.in(0, packet(0, 1, 26, 0), 1000) // refused
	}
	if n := r.stats(0).Discards[fabric.DropStorm][3]; n != 4 {
		t.Fatalf("%d refused", n)
	}
	r.now += 300 * us
	p.hear()
	if p.left() != 4096/64 {
		t.Errorf("nothing is buffered, and the peer has credits for %d blocks of %d", p.left(), 4096/64)
	}
	p.say(0)
	if n := r.stats(0).Credits.Lost[3]; n != 0 {
		t.Errorf("%d blocks count as lost on the link, and all have arrived", n)
	}
}
