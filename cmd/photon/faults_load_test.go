//go:build dpdk

package main

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"photon/internal/testnet"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// sequence is a lossless stream of numbered frames.
type sequence struct {
	from, to int
	sent     atomic.Uint32
	got      atomic.Uint32 // arrived, and those before them that did not and were told
	next     uint32        // number that is expected; the receiver's
	disorder atomic.Uint32 // frames that came late, or twice
	mu       sync.Mutex    // of who sends
}

// steady reports whether the stream is sent all the time.
func (s *sequence) steady() bool { return s.from != victim }

// forget counts what did not arrive, and was told, as arrived. Nobody sends, and nothing is on its way.
func (s *sequence) forget() {
	s.got.Store(s.sent.Load())
}

// arrives is a frame of a number that arrives.
func (s *sequence) arrives(number uint32) {
	if number < s.next {
		s.disorder.Add(1)
		return
	}
	s.next = number + 1
	s.got.Add(1)
}

// station is a host that obeys PFC: it receives streams, and sends when it may.
type station struct {
	c      *campaign
	host   int
	home   *testnet.Namespace
	socket atomic.Pointer[testnet.Socket]
	from   map[int]*sequence
	until  atomic.Int64  // paused
	xoffs  atomic.Uint32 // that came
	missed atomic.Int64  // frames that the host had no room for
}

func newStation(c *campaign, host int, home *testnet.Namespace) *station {
	s := &station{c: c, host: host, home: home, from: map[int]*sequence{}}
	s.open()
	s.send(udp(host, (host+1)%4, 0, 100, 0)) // to be learned
	return s
}

// open is for the first time, and when its interface was made anew.
func (s *station) open() { s.socket.Store(s.home.Open(s.c.t, "eth0")) }

func (s *station) send(frame []byte) { s.socket.Load().Send(frame) }

// may reports whether the switch lets it send.
func (s *station) may() bool { return time.Now().UnixNano() >= s.until.Load() }

// listen takes what arrives until it is stopped: PFC frames, and streams.
func (s *station) listen(stop chan struct{}) {
	ours := isUDP(26)
	at, before := s.socket.Load(), 0
	for {
		select {
		case <-stop:
			return
		default:
		}
		if now := s.socket.Load(); now != at {
			at, before = now, 0
		}
		b := at.Receive(20 * time.Millisecond)
		if n := at.Missed(); n > before {
			s.missed.Add(int64(n - before))
			before = n
		}
		if b == nil {
			continue
		}
		switch to := wire.MACAt(b); {
		case to == pfc.Destination:
			s.paused(b)
		case to == mac(s.host) && ours(b):
			if q := s.from[int(wire.MACAt(b[6:])-mac(0))]; q != nil {
				q.arrives(binary.BigEndian.Uint32(b[42:]))
			}
		}
	}
}

// paused obeys a PFC frame of the switch.
func (s *station) paused(b []byte) {
	var f pfc.Frame
	if f.Decode(b) != nil || f.Enable>>3&1 == 0 {
		return
	}
	if f.Quanta[3] > 0 {
		s.xoffs.Add(1)
	}
	s.until.Store(time.Now().Add(pfc.Duration(f.Quanta[3], 100*units.Mbps).Duration()).UnixNano())
}

// next sends the next frame of a stream, if the switch lets its host.
func (c *campaign) next(s *sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from := c.stations[s.from]; from.may() {
		from.send(udp(s.from, s.to, 26, 1000, s.sent.Load()))
		s.sent.Add(1)
	}
}

// load sends all the time: each stream a frame now and then, and bursts of which two together are more than XOFF;
// and lossy frames, of which now and then come more than a queue holds.
func (c *campaign) load() {
	const burst, lossy = 40, 150
	for _, s := range c.streams {
		if !s.steady() {
			continue
		}
		c.every(5*time.Millisecond, func(turn int) {
			for range 1 + burst*(1-min(turn%25, 1)) {
				c.next(s)
			}
		})
	}
	c.every(5*time.Millisecond, func(turn int) {
		c.stations[1].send(udp(1, victim, 8, 500, uint32(turn)))
		c.stations[0].send(udp(0, 3, 0, 500, uint32(turn)))
	})
	c.every(500*time.Millisecond, func(turn int) {
		for n := range uint32(lossy) {
			c.stations[3].send(udp(3, 0, uint8(8*(turn%2)), 1000, n))
		}
	})
}

// every does something at intervals, unless senders are to rest, until the campaign is over.
func (c *campaign) every(span time.Duration, do func(turn int)) {
	c.running.Go(func() {
		tick := time.NewTicker(span)
		defer tick.Stop()
		for turn := 1; ; turn++ {
			select {
			case <-c.stop:
				return
			case <-tick.C:
				c.resting.RLock()
				do(turn)
				c.resting.RUnlock()
			}
		}
	})
}
