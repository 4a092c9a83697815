package agent

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// Memory of the hosts of these tests: the second host's lies elsewhere, and has another key.
func memoryOf(i int) *Memory {
	m := &Memory{Address: 0x10_0000 + uint64(i)*0x7_0003, Key: 0x1000 + uint32(i), Bytes: make([]byte, 64<<10)}
	rand.NewChaCha8([32]byte{byte(i)}).Read(m.Bytes)
	return m
}

// talk is a connection between the hosts of a cable: what each sends the other.
type talk struct {
	*cable
	local  [2]uint32
	psn    [2]uint32
	pairs  [2]*Pair
	memory [2]*Memory
	before [2][]byte // what the memory had
	slots  [2]int
	ended  [2]int
}

// Parts of each memory: what is written to or read from, where READs put what they read, and where SENDs go.
const partLen, buffers = 20 << 10, 3

func (k *talk) part(i, n int) Region {
	return Region{Address: k.memory[i].Address + uint64(n*partLen), Size: partLen, Key: k.memory[i].Key}
}

func (k *talk) begin(payload int, knows bool) {
	for i := range k.hosts {
		p := k.pairs[i]
		p.Local, p.PeerPSN, p.Expects = k.local[i], k.psn[1-i], knows
		if p.Verb != Send {
			p.Remote = k.part(1-i, 0)
		}
		if p.Verb == Read {
			p.Into = k.part(i, 1)
		}
		p.Receive = Buffers{k.memory[i].Address + 2*partLen, partLen / buffers, buffers}
		var err error
		k.slots[i], err = k.hosts[i].h.AddFlow(0, FlowSpec{Peer: cableAddress(1 - i), PeerMAC: cableMAC(1 - i), QP: k.local[1-i], PSN: k.psn[i], Pair: p})
		if err != nil {
			k.fatal("%v", err)
		}
	}
	k.cable.ended = k.arrived
}

// arrived holds a host to what it calls done: by then all of it is where it belongs, and nothing else was touched.
func (k *talk) arrived(from int, r Result) {
	k.ended[from]++
	p, to := k.pairs[from], 1-from
	if r.Why != nil {
		k.fatal("host %d: %v", from, r.Why)
	}
	if r.Frames < 1 || r.Repeated >= r.Frames || r.Bytes < 60*r.Frames {
		k.fatal("host %d: %d frames, %d again, %d bytes", from, r.Frames, r.Repeated, r.Bytes)
	}
	want, got := k.wants(from), k.memory[to].Bytes
	switch p.Verb {
	case Read:
		got, want = k.memory[from].Bytes[partLen:2*partLen], want[partLen:2*partLen]
	case Write:
		got, want = got[:partLen], want[:partLen]
	default:
		got, want = got[2*partLen:], want[2*partLen:]
	}
	if !bytes.Equal(got, want) {
		k.fatal("host %d: %d messages of %d bytes by verb %d are called done, and their data are not there", from, p.Messages, p.Size, p.Verb)
	}
	if n := k.hosts[to].h.Pairs()[0].Messages; n[p.Verb] != uint64(p.Messages) && p.Verb != Read || n[p.Verb] < uint64(p.Messages) {
		k.fatal("host %d: %d messages by verb %d are called done, the peer counts %v", from, p.Messages, p.Verb, n)
	}
}

// wants is what a memory has when all messages of a host have been: the peer's, or its own if it reads.
func (k *talk) wants(from int) []byte {
	p := k.pairs[from]
	if p.Verb == Read {
		own, other := slices.Clone(k.before[from]), k.before[1-from]
		copyMessages(p, own[partLen:2*partLen], other[:partLen])
		return own
	}
	m := slices.Clone(k.before[1-from])
	data := make([]byte, p.Size)
	for i := range p.Messages {
		fillPattern(data, uint64(i), 0)
		at := int(p.offset(uint64(i), partLen))
		if p.Verb == Send {
			at = 2*partLen + i%buffers*(partLen/buffers)
		}
		copy(m[at:], data)
	}
	return m
}

// copyMessages has all places that messages have in a part be as they are in another.
func copyMessages(p *Pair, to, from []byte) {
	for i := range p.Messages {
		at := int(p.offset(uint64(i), partLen))
		copy(to[at:at+int(p.Size)], from[at:])
	}
}

// newTalk makes the hosts.
func newTalk(fatal func(string, ...any), random *rand.Rand, payload, every int) *talk {
	k := &talk{memory: [2]*Memory{memoryOf(0), memoryOf(1)}, pairs: [2]*Pair{{}, {}}, local: [2]uint32{0x11, 0x70_0017}}
	for i, m := range k.memory {
		k.before[i] = slices.Clone(m.Bytes)
	}
	k.cable = newCable(fatal, random, func(i int) Config {
		c := cableConfig(i)
		c.Payload, c.AckEvery, c.Retries, c.Memory = payload, every, MostRetries, k.memory[i]
		return c
	})
	return k
}

// Whatever a wire does to the packets of a connection of the specification, both ways at once: what is written, sent and
// read is exactly what it should be, each message is executed once (READs at least once), and nothing is called done before.
func TestPairsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		payload := rapid.SampledFrom([]int{64, 256}).Draw(t, "payload")
		k := newTalk(t.Fatalf, random, payload, rapid.SampledFrom([]int{0, 1, 3, 32}).Draw(t, "ack every"))
		per := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		k.trouble = trouble{lost: per("lost", 80), repeated: per("repeated", 80), broken: per("broken", 40), delayed: per("late", 80), upTo: 3 * cableTimeout / 2}
		for i, p := range k.pairs {
			k.psn[i] = rapid.SampledFrom([]uint32{0, 5, 1<<24 - 7, 1<<23 - 2}).Draw(t, "PSN")
			p.Verb = Verb(rapid.IntRange(0, 2).Draw(t, "verb"))
			p.Messages = rapid.IntRange(1, 12).Draw(t, "messages")
			p.Size = units.Size(rapid.OneOf(rapid.IntRange(0, 3*payload), rapid.IntRange(0, 5000)).Draw(t, "size"))
		}
		k.begin(payload, true)
		k.run(20 * units.Second)
		if k.ended != [2]int{1, 1} {
			t.Fatalf("%v flows ended", k.ended)
		}
		for i, s := range k.hosts {
			if err := s.h.Audit(); err != nil {
				t.Error(err)
			}
			if s.h.byPeer.Len() != 0 {
				t.Errorf("host %d has %d flows at the end", i, s.h.byPeer.Len())
			}
			if n := s.h.Pairs()[0].Messages; n[k.pairs[1-i].Verb] < uint64(k.pairs[1-i].Messages) {
				t.Errorf("host %d took %v", i, n)
			}
		}
	})
}

// strangerPeer is a peer in a test's hand: it says what it likes, and keeps what it is answered.
type strangerPeer struct {
	*station
	now     units.Time
	to      uint32   // the host's queue pair; 0: ownQP
	part    uint16   // key of its partition; 0: that of the default one, with full membership
	answers [][]byte // from the base transport header on
}

const peerQP, ownQP, peerPSN = 0x31, 0x52, 100

func newStranger(fatal func(args ...any), payload int) *strangerPeer {
	c := cableConfig(0)
	c.Payload, c.Memory = payload, memoryOf(0)
	s := &strangerPeer{station: &station{env: fabric.NewEnv(fabric.NewHeaderPoolOf(2048), 1)}}
	var err error
	if s.h, err = New(c, s.env); err != nil {
		fatal(err)
	}
	spec := FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: peerQP, Pair: &Pair{Local: ownQP, PeerPSN: peerPSN, Expects: true}}
	if _, err := s.h.AddFlow(0, spec); err != nil {
		fatal(err)
	}
	return s
}

// say sends the host a packet with what is behind the base transport header, and takes what it says.
func (s *strangerPeer) say(opcode uint8, psn uint32, ask bool, pad int, rest ...[]byte) {
	s.send(opcode, psn, ask, pad, rest...)
	s.listen(1000)
}

// send sends the host such a packet.
func (s *strangerPeer) send(opcode uint8, psn uint32, ask bool, pad int, rest ...[]byte) {
	body := bytes.Join(rest, nil)
	length := wire.BTHLen + len(body) + wire.ICRCLen
	frame, _ := s.env.Alloc(max(wire.MinFrameLen, wire.EthernetLen+wire.IPv4Len+wire.UDPLen+length))
	b := s.env.Bytes(&frame)
	clear(b)
	r := wire.RoCE{DstMAC: cableMAC(0), SrcMAC: cableMAC(1), Src: cableAddress(1), Dst: cableAddress(0), SrcPort: 50_000}
	at := r.Encode(b, length)
	bth := wire.BTH(b[at:])
	bth.Encode(opcode, false, cmp.Or(s.to, ownQP), ask, psn)
	bth.SetPad(pad)
	if s.part != 0 {
		binary.BigEndian.PutUint16(bth[2:], s.part)
	}
	copy(b[at+wire.BTHLen:], body)
	wire.SealICRC(b[wire.EthernetLen:at+length], at-wire.EthernetLen)
	s.h.Receive(s.now, 0, []fabric.Frame{frame})
}

// listen takes so many frames at most.
func (s *strangerPeer) listen(most int) {
	var out [1]fabric.Frame
	for ; most > 0; most-- {
		next := s.h.Next(s.now, 0)
		if next == units.Never {
			return
		}
		s.now = max(s.now, next)
		if s.h.Transmit(s.now, 0, out[:]) == 0 {
			continue
		}
		b := s.env.Bytes(&out[0])
		var h wire.Header
		if wire.Parse(b, &h); h.BTH > 0 {
			s.answers = append(s.answers, slices.Clone(b[h.BTH:]))
		}
		s.env.Free(out[0])
	}
}

// takeAnswers is what the host answered since the last call, in short: opcode, PSN, syndrome and MSN.
func (s *strangerPeer) takeAnswers() (all []string) {
	for _, b := range s.answers {
		switch bth := wire.BTH(b); bth.Opcode() {
		case wire.OpAcknowledge:
			a := wire.AETH(b[wire.BTHLen:])
			all = append(all, fmt.Sprintf("%02x of %d, %d done", a.Syndrome(), bth.PSN(), a.MSN()))
		default:
			all = append(all, fmt.Sprintf("op %02x of %d", bth.Opcode(), bth.PSN()))
		}
	}
	s.answers = nil
	return all
}

func reth(address uint64, key, length uint32) []byte {
	b := make([]byte, wire.RETHLen)
	wire.RETH(b).Encode(address, key, length)
	return b
}

// What a responder makes of requests, one after the other, as the specification has it: the first three are right.
func TestResponderAnswers(t *testing.T) {
	const mtu, key = 256, 0x1000
	base := memoryOf(0).Address
	full, some := make([]byte, mtu), []byte{1, 2, 3, 4, 5, 6, 7, 8}
	type say struct {
		opcode uint8
		psn    uint32
		pad    int
		rest   [][]byte
	}
	right := []say{
		{wire.OpWriteFirst, 100, 0, [][]byte{reth(base+8, key, mtu+7), full}},
		{wire.OpWriteLast, 101, 1, [][]byte{some}},
		{wire.OpSendOnly, 102, 0, nil},
	}
	wants := []string{"1f of 100, 0 done", "1f of 101, 1 done", "1f of 102, 2 done"}
	for name, c := range map[string]struct {
		then []say
		want []string
	}{
		"a gap, asked for once": {[]say{{wire.OpSendOnly, 104, 0, nil}, {wire.OpSendOnly, 105, 0, nil}, {wire.OpSendOnly, 103, 0, nil}}, []string{"60 of 103, 2 done", "1f of 103, 3 done"}},
		"two gaps, each asked for": {
			[]say{{wire.OpSendOnly, 104, 0, nil}, {wire.OpSendOnly, 103, 0, nil}, {wire.OpSendOnly, 105, 0, nil}},
			[]string{"60 of 103, 2 done", "1f of 103, 3 done", "60 of 104, 3 done"},
		},
		"what was executed before":    {[]say{{wire.OpWriteLast, 101, 0, [][]byte{some}}, {wire.OpWriteFirst, 100, 0, [][]byte{reth(base, 9, 9), some}}}, []string{"1f of 102, 2 done", "1f of 102, 2 done"}},
		"a middle without a first":    {[]say{{wire.OpWriteMiddle, 103, 0, [][]byte{full}}, {wire.OpSendOnly, 103, 0, nil}}, []string{"61 of 103, 2 done", "61 of 103, 2 done"}},
		"a last of the other verb":    {[]say{{wire.OpSendFirst, 103, 0, [][]byte{full}}, {wire.OpWriteLast, 104, 0, [][]byte{some}}}, []string{"1f of 103, 2 done", "61 of 104, 2 done"}},
		"a first in a message":        {[]say{{wire.OpSendFirst, 103, 0, [][]byte{full}}, {wire.OpSendOnly, 104, 0, nil}}, []string{"1f of 103, 2 done", "61 of 104, 2 done"}},
		"a READ in a message":         {[]say{{wire.OpSendFirst, 103, 0, [][]byte{full}}, {wire.OpReadRequest, 104, 0, [][]byte{reth(base, key, 4)}}}, []string{"1f of 103, 2 done", "61 of 104, 2 done"}},
		"a short first":               {[]say{{wire.OpSendFirst, 103, 0, [][]byte{some}}}, []string{"61 of 103, 2 done"}},
		"a long only":                 {[]say{{wire.OpSendOnly, 103, 0, [][]byte{full, some}}}, []string{"61 of 103, 2 done"}},
		"more behind what is refused": {[]say{{wire.OpWriteMiddle, 103, 0, [][]byte{full}}, {wire.OpSendOnly, 104, 0, nil}, {wire.OpSendOnly, 105, 0, nil}}, []string{"61 of 103, 2 done", "61 of 103, 2 done", "61 of 103, 2 done"}},
		"an empty last":               {[]say{{wire.OpSendFirst, 103, 0, [][]byte{full}}, {wire.OpSendLast, 104, 0, nil}}, []string{"1f of 103, 2 done", "61 of 104, 2 done"}},
		"more than it said":           {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{reth(base, key, 4), some}}}, []string{"61 of 103, 2 done"}},
		"less than it said":           {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{reth(base, key, 9), some}}}, []string{"61 of 103, 2 done"}},
		"an end where more was said":  {[]say{{wire.OpWriteFirst, 103, 0, [][]byte{reth(base, key, mtu), full}}}, []string{"61 of 103, 2 done"}},
		"half a header":               {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{some}}}, []string{"61 of 103, 2 done"}},
		"more padding than packet":    {[]say{{wire.OpSendOnly, 103, 3, nil}}, []string{"61 of 103, 2 done"}},
		"an opcode of atomics":        {[]say{{0x13, 103, 0, [][]byte{full}}}, []string{"61 of 103, 2 done"}},
		"a datagram, and then":        {[]say{{0x64, 103, 0, [][]byte{some}}, {wire.OpSendOnly, 103, 0, nil}}, []string{"1f of 103, 3 done"}},
		"unreliable, and then":        {[]say{{0x24, 103, 0, [][]byte{some}}, {wire.OpSendOnly, 103, 0, nil}}, []string{"1f of 103, 3 done"}},
		"no transport, and then":      {[]say{{0xC4, 103, 0, [][]byte{some}}, {wire.OpSendOnly, 103, 0, nil}}, []string{"1f of 103, 3 done"}},
		"a datagram too early":        {[]say{{0x64, 105, 0, [][]byte{some}}, {0x64, 100, 0, [][]byte{some}}}, nil},
		"a wrong key":                 {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{reth(base, key+1, 8), some}}}, []string{"62 of 103, 2 done"}},
		"before the memory":           {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{reth(base-1, key, 8), some}}}, []string{"62 of 103, 2 done"}},
		"behind the memory":           {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{reth(base+64<<10-7, key, 8), some}}}, []string{"62 of 103, 2 done"}},
		"around the address space":    {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{reth(1<<64-4, key, 8), some}}}, []string{"62 of 103, 2 done"}},
		"a READ behind the memory":    {[]say{{wire.OpReadRequest, 103, 0, [][]byte{reth(base+1, key, 64<<10)}}}, []string{"62 of 103, 2 done"}},
		"a READ of too much":          {[]say{{wire.OpReadRequest, 103, 0, [][]byte{reth(base, key, 1<<31+1)}}}, []string{"61 of 103, 2 done"}},
		"nothing, with a wrong key":   {[]say{{wire.OpWriteOnly, 103, 0, [][]byte{reth(0, 0, 0)}}}, []string{"1f of 103, 3 done"}},
		"immediate data":              {[]say{{wire.OpSendOnlyImm, 103, 0, [][]byte{some}}, {wire.OpWriteOnlyImm, 104, 0, [][]byte{reth(base, key, 4), some}}}, []string{"1f of 103, 3 done", "1f of 104, 4 done"}},
		"a READ, and again from 104":  {[]say{{wire.OpReadRequest, 103, 0, [][]byte{reth(base, key, 2*mtu+1)}}, {wire.OpReadRequest, 104, 0, [][]byte{reth(base+mtu, key, mtu+1)}}}, []string{"op 0d of 103", "op 0e of 104", "op 0f of 105", "op 0d of 104", "op 0f of 105"}},
		"a READ, and what follows":    {[]say{{wire.OpReadRequest, 103, 0, [][]byte{reth(base, key, 0)}}, {wire.OpSendOnly, 104, 0, nil}, {wire.OpSendOnly, 102, 0, nil}}, []string{"op 10 of 103", "1f of 104, 4 done", "1f of 102, 4 done"}},
		"a READ again, beyond itself": {[]say{{wire.OpReadRequest, 102, 0, [][]byte{reth(base, key, 2*mtu)}}}, nil},
	} {
		s := newStranger(t.Fatal, mtu)
		for _, p := range append(slices.Clone(right), c.then...) {
			s.say(p.opcode, p.psn, true, p.pad, p.rest...)
		}
		if got := s.takeAnswers(); !slices.Equal(got, append(slices.Clone(wants), c.want...)) {
			t.Errorf("%s: %q, not %q", name, got[min(len(got), 3):], c.want)
		}
		if err := s.h.Audit(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, want := s.h.config.Memory.Bytes[8+mtu:8+mtu+8], append(slices.Clone(some[:7]), memoryOf(0).Bytes[8+mtu+7]); !bytes.Equal(got, want) {
			t.Errorf("%s: the padding was placed, too, or the data were not: % x, not % x", name, got, want)
		}
	}
}

// A pair is of the default partition, and its peers are members of it, fully or not: what names another is not for it,
// and gets no answer.
func TestPairsAreOfTheDefaultPartition(t *testing.T) {
	for key, answers := range map[uint16]int{0xFFFF: 1, 0x7FFF: 1, 0x8001: 0, 0x7FFE: 0, 0x8000: 0} {
		s := newStranger(t.Fatal, 256)
		s.part = key
		s.say(wire.OpSendOnly, peerPSN, true, 0)
		if n := len(s.takeAnswers()); n != answers {
			t.Errorf("%#x: %d answers", key, n)
		}
		if err := s.h.Audit(); err != nil {
			t.Error(err)
		}
	}
}

// Acknowledgements are made when they are asked for, and one speaks for all that waited.
func TestAnswersAreFewer(t *testing.T) {
	s := newStranger(t.Fatal, 256)
	s.say(wire.OpSendOnly, 100, false, 0)
	if got := s.takeAnswers(); got != nil {
		t.Errorf("nobody asked, and it says %q", got)
	}
	q := s.h.pairs.list[0]
	for psn := range uint32(5) {
		s.h.answer(s.now, q, wire.SyndromeACK, 100+psn)
	}
	s.listen(10)
	if got := s.takeAnswers(); !slices.Equal(got, []string{"1f of 104, 1 done"}) {
		t.Errorf("it says %q", got)
	}
}

// One that asks for what is missing, or says why there is no more, is not replaced by one of what was before; one of
// the packet that was missing replaces it.
func TestAnswersSayMost(t *testing.T) {
	for want, said := range map[string][]struct {
		opcode uint8
		psn    uint32
	}{
		"60 of 100, 0 done": {{wire.OpSendOnly, 101}, {wire.OpSendOnly, 99}},
		"61 of 100, 0 done": {{wire.OpSendMiddle, 100}, {wire.OpSendOnly, 99}},
		"1f of 100, 1 done": {{wire.OpSendOnly, 101}, {wire.OpSendOnly, 100}, {wire.OpSendOnly, 98}},
	} {
		s := newStranger(t.Fatal, 256)
		for _, p := range said {
			s.send(p.opcode, p.psn, true, 0)
		}
		s.listen(10)
		if got := s.takeAnswers(); !slices.Equal(got, []string{want}) {
			t.Errorf("it says %q, not %q", got, want)
		}
	}
}

// What a peer asks for again leaves at once, or as soon as it wants: before the acknowledgement is overdue.
func TestPairsGoBackAtOnce(t *testing.T) {
	const us = units.Microsecond
	for syndrome, wait := range map[uint8]units.Time{wire.SyndromeNAK: 0, 0x20 | 1: 10 * us, 0x20 | 4: 40 * us} {
		for _, verb := range []Verb{Send, Write, Read} {
			s := newStranger(t.Fatal, 256)
			s.to = ownQP + 1
			pair := &Pair{Local: s.to, Verb: verb, Messages: 3, Remote: Region{Size: 8, Key: 1}, Size: 8}
			spec := FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: peerQP + 1, PSN: 7, Pair: pair}
			if _, err := s.h.AddFlow(0, spec); err != nil {
				t.Fatal(err)
			}
			for s.h.Next(s.now, 0) <= s.now+us { // all that it may send before an answer
				s.listen(1)
			}
			asked, sent := s.now, len(s.answers)
			aeth := make([]byte, wire.AETHLen)
			wire.AETH(aeth).Encode(syndrome, 0)
			s.send(wire.OpAcknowledge, 7, false, 0, aeth)
			for len(s.answers) == sent {
				s.listen(1)
			}
			psn := wire.BTH(s.answers[sent]).PSN()
			if psn != 7 || s.now < asked+wait || s.now > asked+wait+us {
				t.Errorf("%#x, verb %d: packet %d is sent %v later", syndrome, verb, psn, s.now-asked)
			}
			if n := s.h.Stats(s.now).NAKs; (n == 1) != (syndrome == wire.SyndromeNAK) {
				t.Errorf("%#x, verb %d: %d NAKs are counted", syndrome, verb, n)
			}
		}
	}
}

// The memory that peers may use begins with the words that a message has: of 64 bits, the lowest byte first, each the
// one before and 0x9E3779B97F4A7C15, which the first one is.
func TestMemoryBegins(t *testing.T) {
	for _, size := range []int{0, 1, 8, 77} {
		m, word := NewMemory(1<<40, 7, size), uint64(0)
		for i, b := range m.Bytes {
			if i%8 == 0 {
				word += 0x9E3779B97F4A7C15
			}
			if b != byte(word>>(8*(i%8))) {
				t.Fatalf("byte %d of %d is %#x", i, size, b)
			}
		}
		if all, ok := m.at(1<<40, uint64(size)); len(m.Bytes) != size || !ok || len(all) != size || m.Key != 7 {
			t.Errorf("%d bytes of %d", len(m.Bytes), size)
		}
	}
}

// Whatever a peer asks for, a host sends the packets of its messages and no other: none is behind the last.
func TestNothingIsSentBehindTheLast(t *testing.T) {
	for _, syndrome := range []uint8{wire.SyndromeNAK, 0x20 | 1, 0x20 | 12} {
		for _, verb := range []Verb{Send, Write, Read} {
			for _, messages := range []int{1, 3} {
				s := newStranger(t.Fatal, 256)
				pair := &Pair{Local: ownQP + 1, Verb: verb, Messages: messages, Remote: Region{Size: 8, Key: 1}, Size: 8}
				spec := FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: peerQP + 1, PSN: 1<<24 - 2, Pair: pair}
				if _, err := s.h.AddFlow(0, spec); err != nil {
					t.Fatal(err)
				}
				behind := (spec.PSN + uint32(messages)) & psnMask
				s.to = ownQP + 1
				for range 3 {
					s.listen(messages)
					aeth := make([]byte, wire.AETHLen)
					wire.AETH(aeth).Encode(syndrome, 0)
					s.send(wire.OpAcknowledge, behind, false, 0, aeth)
				}
				s.listen(20)
				for _, b := range s.answers {
					if n := (wire.BTH(b).PSN() - spec.PSN) & psnMask; n >= uint32(messages) {
						t.Fatalf("%#x for PSN %d: packet %d of %d messages by verb %d is sent", syndrome, behind, n, messages, verb)
					}
				}
				if len(s.answers) < messages && verb != Read {
					t.Errorf("%d packets of %d messages", len(s.answers), messages)
				}
			}
		}
	}
}

// Nothing that a peer says makes a host fall, keep more than a few READs, or touch what it may not.
func TestPairsAmongStrangers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStranger(t.Fatal, 64)
		m := s.h.config.Memory
		for range rapid.IntRange(1, 60).Draw(t, "packets") {
			q := s.h.pairs.list[0]
			q.taker.broken = 0 // it goes on, for more to be tried
			opcode := rapid.OneOf(rapid.Uint8Range(0, 0x15), rapid.Uint8()).Draw(t, "opcode")
			psn := q.taker.expected + uint32(rapid.SampledFrom([]int{0, 0, 0, 0, 1, -1, -3, 1 << 22, 1 << 23}).Draw(t, "ahead"))
			address := m.Address + uint64(rapid.SampledFrom([]int{0, 1, 100, 64<<10 - 64, 64 << 10, -1, 1 << 62}).Draw(t, "at"))
			length := rapid.OneOf(rapid.Uint32Range(0, 300), rapid.SampledFrom([]uint32{64 << 10, 1 << 31, 1<<32 - 1})).Draw(t, "length")
			rest := rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "rest")
			if rapid.Bool().Draw(t, "a header") {
				rest = append(reth(address, m.Key, length), rest...)
			}
			frames := rapid.IntRange(0, 3).Draw(t, "frames")
			s.send(opcode, psn&psnMask, rapid.Bool().Draw(t, "asks"), rapid.IntRange(0, 3).Draw(t, "pad"), rest)
			s.listen(frames)
			if n := len(q.taker.reads); n > maxReads {
				t.Fatalf("%d READs wait", n)
			}
			if n := s.h.acks.tail - s.h.acks.head; n > 1 {
				t.Fatalf("%d acknowledgements wait", n)
			}
		}
		if err := s.h.Audit(); err != nil {
			t.Fatal(err)
		}
	})
}

// What is wrong with a pair is said when its flow is to begin.
func TestPairsAreChecked(t *testing.T) {
	s := newStranger(t.Fatal, 256)
	m := s.h.config.Memory
	for name, spec := range map[string]FlowSpec{
		"a number of 25 bits":        {Pair: &Pair{Local: 1 << 24}},
		"a PSN of 25 bits":           {Pair: &Pair{PeerPSN: 1 << 24}},
		"more than 2 GiB":            {Pair: &Pair{Messages: 1, Size: 1<<31 + 1}},
		"more packets than numbers":  {Pair: &Pair{Messages: 1, Size: 1 << 31}},
		"a place that is too small":  {Pair: &Pair{Messages: 1, Verb: Write, Size: 9, Remote: Region{Size: 8}}},
		"memory that is not there":   {Pair: &Pair{Messages: 1, Verb: Read, Size: 9, Remote: Region{Size: 9}, Into: Region{Address: m.Address - 1, Size: 9}}},
		"buffers that are not there": {Pair: &Pair{Receive: Buffers{Address: m.Address + 64<<10 - 7, Size: 1, Count: 8}}},
		"a number that is in use":    {QP: 99, Pair: &Pair{Local: ownQP}},
	} {
		spec.Peer, spec.PeerMAC = cableAddress(1), cableMAC(1)
		if _, err := s.h.AddFlow(0, spec); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := s.h.AddFlow(0, FlowSpec{Peer: cableAddress(1), QP: ownQP}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("an agent's flow whose acknowledgements would be the pair's: %v", err)
	}
	s.h.StopFlow(0, 0)
	if s.say(wire.OpWriteOnly, peerPSN, true, 0, reth(0, 0, 0)); s.takeAnswers() != nil || len(s.h.Pairs()) != 0 {
		t.Error("a pair that only answered does so after its end")
	}
}

// Responses to READs are data: they leave at the pace that their flow may have, and nothing is left of it afterwards.
func TestResponsesArePaced(t *testing.T) {
	const rate, length = 100 * units.Mbps, 60 << 10
	s := newStranger(t.Fatal, 1024)
	s.h.pairs.list[0].limit = rate
	s.say(wire.OpReadRequest, peerPSN, true, 0, reth(s.h.config.Memory.Address, s.h.config.Memory.Key, length))
	if least := rate.Serialize(length * 59 / 60); s.now < least || s.now > 2*least {
		t.Errorf("%d bytes take %v at %v", length, s.now, rate)
	}
	if n, flows := len(s.takeAnswers()), s.h.byPeer.Len(); n != 60 || flows != 1 {
		t.Errorf("%d responses, %d flows afterwards", n, flows)
	}
}

// Pairs whose flows have ended answer still, until there are too many, or another flow takes their number.
func TestPairsMakeRoom(t *testing.T) {
	s := newStranger(t.Fatal, 256)
	most := s.h.config.Senders + s.h.config.Receivers
	open := func(local uint32) int {
		id, err := s.h.AddFlow(s.now, FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: 1000 + local, Pair: &Pair{Local: local, Messages: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for local := range uint32(2 * most) {
		s.h.StopFlow(s.now, open(100+local))
	}
	if n := len(s.h.Pairs()); n != most {
		t.Errorf("%d pairs, not %d", n, most)
	}
	last := uint32(100 + 2*most - 1)
	s.h.StopFlow(s.now, open(last))
	if n := len(s.h.Pairs()); n != most {
		t.Errorf("%d pairs after another flow took a number, not %d", n, most)
	}
	if s.say(wire.OpWriteOnly, peerPSN, true, 0, reth(0, 0, 0)); len(s.takeAnswers()) != 1 {
		t.Error("the pair whose flow has not ended does not answer")
	}
}

// The time for which a peer wants to be left alone is moved when the clock is set back.
func TestPairsAreRebased(t *testing.T) {
	s := newStranger(t.Fatal, 256)
	q := s.h.pairs.list[0]
	q.sender.until = units.Lap + 5
	if s.h.Rebase(units.Lap); q.sender.until != 5 {
		t.Errorf("it waits until %v", q.sender.until)
	}
}
