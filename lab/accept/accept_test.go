package accept

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// What is wrong with a plan is said in one line, with the file's name and, where one is, the line's number.
func TestBadPlans(t *testing.T) {
	const cables = "cables:\n- {switch: 0000:03:00.0, peer: 0000:82:00.0}\n- {switch: 0000:03:00.1, peer: 0000:82:00.1}\n"
	for text, want := range map[string]string{
		"":                                    "needs cables",
		"rounds: 3":                           "needs cables",
		cables[:52]:                           "1 cables: two are needed",
		cables + "colour: blue":               "unknown key",
		cables + "rate: 1Kbps":                ":4: rate 1Kbps must be 1Mbps at least",
		cables + "response: 2s":               ":4: response 2s",
		cables + "rounds: 0":                  ":4: rounds 0: from 1 to 10000",
		cables + "figure11: none":             ":4: figure11: ",
		cables + "dpdk: {cores: [0]}":         ":4: 1 cores: name two",
		cables + "dpdk: {cores: [0, 0]}":      ":4: core 0 twice",
		cables + "dpdk: {cores: [0, 100000]}": ":4: core 100000: this machine has 0 to",
		strings.Replace(cables, "82:00.1", "03:00.0", 1):         ":3: device 0000:03:00.0 is used twice",
		strings.Replace(cables, "0000:82:00.1", "eth0", 1):       `:3: device "eth0": write net_af_packet0,iface=eth0`,
		strings.Replace(cables, ", peer: 0000:82:00.1", "", 1):   "cable 2 has no `peer:`",
		strings.Replace(cables, "0000:82:00.1", "[a, b]", 1):     ":3: ",
		strings.Replace(cables, "switch: 0000:03:00.0, ", "", 1): "cable 1 has no `switch:`",
	} {
		file := filepath.Join(t.TempDir(), "accept.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), file) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
}

// A pacer that is off shows, however packets jitter; one that is not passes.
func TestPacingIsJudged(t *testing.T) {
	const n = 2000
	rate := 500 * units.Mbps
	size := onWire(1074)
	p := &Plan{Cables: make([]Cable, 2)}
	for _, c := range []struct {
		name   string
		faster float64
		jitter units.Time
		want   Verdict
	}{
		{"exact", 1, 0, Passed}, {"jitter", 1, 100 * units.Microsecond, Passed}, {"half a percent", 1.005, 0, Passed},
		{"too fast", 1.03, 100 * units.Microsecond, Failed}, {"too slow", 0.95, 100 * units.Microsecond, Failed},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		gap := float64(rate.Serialize(size)) / c.faster
		var come []arrival
		for k := range n {
			at := units.Time(float64(k) * gap)
			if c.jitter > 0 {
				at += units.Time(random.Int64N(int64(c.jitter)))
			}
			come = append(come, arrival{k, at, size})
		}
		s := p.paced(come, rate, 0, 0, n)
		if s.Verdict != c.want {
			t.Errorf("%s: %v", c.name, &s)
		}
		if off := s.Values["rate_error"] - (c.faster - 1); off > 0.002 || off < -0.002 {
			t.Errorf("%s: %v", c.name, &s)
		}
	}
	if s := p.paced(nil, rate, 0, 7, n); s.Verdict != Failed {
		t.Error(&s)
	}
	p.Rate = config.Set(10 * units.Mbps)
	p.file = "x.yaml"
	slow := []arrival{}
	for k := range n {
		slow = append(slow, arrival{k, 2 * units.Time(k) * rate.Serialize(size), size})
	}
	if s := p.paced(slow, rate, 0, 0, n); s.Verdict != NotPossible || s.Why == "" {
		t.Error(&s)
	}
}

// A station sends in the order and at the pace that it is told, repeats a pause before its time is over, and rests while
// its peer has stopped it, if it obeys.
func TestStation(t *testing.T) {
	env := fabric.NewEnv(fabric.NewHeaderPoolOf(2048), 2)
	rate := 10 * units.Gbps
	s := &station{
		env: env,
		ports: []*port{
			{mac: 1, rate: rate, card: rate, obeys: true, prio: lossless},
			{mac: 2, rate: rate, card: rate, prio: lossless},
		},
	}
	var burst [8]fabric.Frame
	now := units.Time(0)
	// run has a port send what is due until a time, and hands it to the other one.
	run := func(from int, until units.Time) (frames int) {
		for ; s.Next(now, from) <= until; frames++ {
			now = s.Next(now, from)
			if n := s.Transmit(now, from, burst[:1]); n == 0 {
				t.Fatalf("nothing is due at %v", now)
			}
			s.Receive(now, 1-from, burst[:1])
		}
		now = until
		return frames
	}
	s.ports[0].streams = []*stream{
		{frame: template(1, 2, 3, 26, true, 128), lossless: true, every: units.Microsecond, left: endless},
		{frame: template(1, 2, 4, 0, false, 64), every: 2 * units.Microsecond, left: 10},
	}
	run(0, 100*units.Microsecond)
	a, b := s.ports[1].got[3], s.ports[1].got[4]
	if a.n != 101 || a.disorder != 0 || a.marked != 0 || a.bytes != 101*128 || b.n != 10 ||
		a.last != 100*units.Microsecond {
		t.Errorf("%+v, %+v", a, b)
	}
	// The other end stops it for as long as it repeats the XOFF.
	s.ports[1].repeat = xoff(lossless)
	longest := pfc.Duration(pfc.MaxQuanta, rate)
	for range 30 {
		run(1, now+longest/10)
		run(0, now)
	}
	if got := s.ports[1].after[lossless]; got.n != 0 || s.ports[0].pfc < 11 || s.ports[0].xoffs != s.ports[0].pfc ||
		s.ports[1].sentControl != s.ports[0].pfc {
		t.Errorf("%+v after an XOFF, %+v", got, s.ports[0])
	}
	s.ports[1].repeat = nil
	s.ports[1].control = []*pfc.Frame{xon(lossless), pause(0)}
	run(1, now)
	before := s.ports[1].got[3].n
	run(0, now+10*units.Microsecond)
	if got := s.ports[1].got[3].n - before; got < 10 || s.ports[0].pauses != 1 || s.ports[0].odd != 0 {
		t.Errorf("%d frames after the XON, %+v", got, s.ports[0])
	}
	// A mark, a frame that comes twice, and what is none of ours.
	f, _ := env.Alloc(128)
	f2, _ := env.Alloc(60)
	copy(env.Bytes(&f), template(1, 2, 5, 26, true, 128))
	wire.SetECN(env.Bytes(&f)[ipAt:], wire.CE)
	copy(env.Bytes(&f2), make([]byte, 60))
	g, _ := env.Clone(f)
	s.Receive(now, 1, []fabric.Frame{f, f2, g})
	if got := s.ports[1].got[5]; got.n != 2 || got.marked != 2 || got.disorder != 1 {
		t.Errorf("%+v", got)
	}
	if !wire.IPv4ChecksumOK(template(1, 2, 5, 26, true, 128)[ipAt:]) {
		t.Error("a broken checksum")
	}
}

// An XOFF that stops its priority alone is told from one that stops all, or nothing, and from a link on which other
// frames end by chance.
func TestCeasing(t *testing.T) {
	for name, c := range map[string]struct {
		lossless, besides units.Time // the last that came, in ms after the XOFF; -1: none
		want              bool
	}{
		"its priority alone": {3, 99, true}, "none of it comes at all": {-1, 99, true}, "nothing": {99, 99, false},
		"all": {3, 4, false}, "all at once": {-1, -1, false}, "the others": {99, 3, false},
	} {
		since := 7 * units.Second
		p := port{since: since, prio: lossless}
		for prio, last := range map[int]units.Time{lossless: c.lossless, 0: c.besides, second: c.besides} {
			if last >= 0 {
				p.after[prio] = arrived{n: 5, last: since + last*units.Millisecond}
			}
		}
		end := since + 100*units.Millisecond
		if got := p.ceased(end) && p.wentOn(end, 0, second); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if p.after[second] = (arrived{}); p.wentOn(end, 0, second) {
			t.Errorf("%s: one of the others stopped", name)
		}
	}
	if p := (&port{}); p.ceased(10) || p.wentOn(10, 0) {
		t.Error("no XOFF left")
	}
}

// A frame of the wiring passes as it is, whatever its number; one that lost its tag, an octet or its order of bits
// does not.
func TestFramesThatChange(t *testing.T) {
	sent := wiringFrames(1, 2, 7)
	tagged := 0
	for _, f := range sent {
		id, number, ours := streamOf(f)
		if id != 7 || number != 0 || !ours {
			t.Errorf("%x is of stream %d, number %d", f, id, number)
		}
		b := slices.Clone(f)
		b[len(b)-1]++
		if !unchanged(f, sent) || unchanged(b, sent) || unchanged(f[:len(f)-1], sent) || unchanged(append(b, 0), sent) {
			t.Errorf("%x", f)
		}
		b[len(b)-1]--
		b[tagOf(b)+numberAt+7] = 9
		if !unchanged(b, sent) {
			t.Errorf("%x: its number changed", f)
		}
		if tagOf(f) > 0 {
			tagged++
			wire.PopVLANTag(b)
			if unchanged(b[wire.VLANLen:], sent) {
				t.Error("it has lost its tag")
			}
		}
	}
	if tagged != 1 {
		t.Errorf("%d frames with a tag", tagged)
	}
	same, cut := arrived{n: 3, bytes: 3 * longest}, arrived{n: 3, bytes: 3*longest - 6}
	if same.otherLengths(longest) != "" || cut.otherLengths(longest) == "" {
		t.Errorf("%q, %q", same.otherLengths(longest), cut.otherLengths(longest))
	}
}

// A stage without cables says so, and a summary counts what the steps say.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	p := &Plan{file: "x.yaml"}
	var out bytes.Buffer
	for _, stage := range Stages {
		if err := p.Stage(context.Background(), stage, dir, &out); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(out.String(), "\n"); n != len(Stages) ||
		strings.Count(out.String(), "not possible here") != n {
		t.Errorf("%s", out.String())
	}
	r, err := newReport("cards", filepath.Join(dir, stepsFile), &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.add(Step{Name: "link", Verdict: Passed}); err != nil {
		t.Fatal(err)
	}
	if err := r.add(Step{Name: "link", Verdict: Failed}); err != nil {
		t.Fatal(err)
	}
	var s Summary
	if err := s.read(filepath.Join(dir, stepsFile)); err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(s.Steps); s.Passed != 1 || s.Failed != 1 || s.NotPossible != len(Stages) {
		t.Errorf("%+v, %s", s, b)
	}
}

// Who reads of a failure is told what to do: each step that there is has a remedy, and one that did not fail has none.
func TestFailuresSayWhatToDo(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names, name := slices.Clone(Stages), regexp.MustCompile(`Name: +"([^"]+)"|\t\{"([^"]+)", "from the XO`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(string(b), -1) {
			names = append(names, m[1]+m[2])
		}
	}
	var out bytes.Buffer
	dir := t.TempDir()
	for _, name := range names {
		for _, verdict := range []Verdict{Passed, Failed} {
			r, err := newReport("switch", filepath.Join(dir, stepsFile), &out)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(r.add(Step{Name: name, Verdict: verdict}), r.file.Close()); err != nil {
				t.Fatal(err)
			}
			if told := strings.Contains(out.String(), "; what to do: "); told != (verdict == Failed) {
				t.Errorf("%s", out.String())
			}
			out.Reset()
		}
	}
	if len(names) < 20 {
		t.Errorf("only %d steps: %v", len(names), names)
	}
}

// A PFC frame is as the standard has it in each octet, or it is not: here it is written out.
func TestPFCFramesAsStandard(t *testing.T) {
	good, err := hex.DecodeString("0180c2000001" + "020000000001" + "8808" + "0101" + "0008" +
		"0000" + "0000" + "0000" + "ffff" + "0000" + "0000" + "0000" + "0000" + strings.Repeat("00", 26))
	if err != nil {
		t.Fatal(err)
	}
	xon := slices.Clone(good)
	xon[24], xon[25] = 0, 0
	padded := append(slices.Clone(good), 0, 0, 0, 0)
	if !asStandard(good, 3, 65535) || !asStandard(xon, 3, 0) || !asStandard(padded, 3, 65535) {
		t.Error("a good one is not")
	}
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 1
		// Another source is as good, if it is no group's.
		if ok := at > 6 && at < 12; asStandard(bad, 3, 65535) != ok {
			t.Errorf("octet %d may not be another: %v", at, ok)
		}
	}
	if none := append(good[:6:6], append(make([]byte, 6), good[12:]...)...); asStandard(none, 3, 65535) {
		t.Error("it comes from no address")
	}
	if asStandard(good[:59], 3, 65535) {
		t.Error("it is short")
	}
}

// A frame of each DSCP, of eight a priority, with all code points of ECN in each; a marked one differs in the code
// point and the checksum alone.
func TestFramesOfEachDSCP(t *testing.T) {
	seen := map[[2]int]int{}
	w := &way{src: 1, dst: 2}
	for dscp := range w.trust.DSCP {
		w.trust.DSCP[dscp] = uint8(dscp / 8)
	}
	for i, f := range w.kindFrames(7) {
		if dscp := int(f[15] >> 2); dscp != i || priorityOf(f) != dscp/8 || !wire.IPv4ChecksumOK(f[ipAt:]) {
			t.Errorf("frame %d: %x", i, f)
		}
		seen[[2]int{priorityOf(f), int(f[15] & 3)}]++
		m := marked(f)
		if m[15] != f[15]|3 || !wire.IPv4ChecksumOK(m[ipAt:]) || f[15]&3 == 3 != bytes.Equal(m, f) {
			t.Errorf("frame %d: %x", i, m)
		}
		m[15], m[24], m[25] = f[15], f[24], f[25]
		if !bytes.Equal(m, f) {
			t.Errorf("frame %d: a mark changes more", i)
		}
	}
	if len(seen) != 8*4 {
		t.Errorf("%d of 32 pairs of a priority and a code point", len(seen))
	}
}

// A station tells when a pause ended by itself, and how long after an XON the first frame came.
func TestAPausesEnd(t *testing.T) {
	env := fabric.NewEnv(fabric.NewHeaderPoolOf(2048), 1)
	p := &port{mac: 2, rate: units.Gbps, card: units.Gbps, prio: lossless}
	s := &station{env: env, ports: []*port{p}}
	data := func(now units.Time) {
		f, _ := env.Alloc(128)
		copy(env.Bytes(&f), template(1, 2, 3, 26, false, 128))
		s.Receive(now, 0, []fabric.Frame{f})
	}
	var burst [1]fabric.Frame
	say := func(now units.Time, what *pfc.Frame) {
		p.control = append(p.control, what)
		if s.Transmit(now, 0, burst[:]) != 1 {
			t.Fatal("it does not send")
		}
		env.Free(burst[0])
	}
	for _, at := range []units.Time{1, 2, 50} { // the longest rest before counts for nothing
		data(at)
	}
	p.begin()
	say(60, stopFor(9, lossless))
	for _, at := range []units.Time{61, 62, 90, 91} {
		data(at)
	}
	if p.since != 60 || p.longestRest != (interval{62, 90}) || p.after[lossless].n != 4 {
		t.Errorf("%v, %+v, %+v", p.since, p.longestRest, p.after[lossless])
	}
	p.begin()
	say(100, xoff(lossless))
	say(110, xon(lossless))
	data(117)
	data(120)
	if p.back-p.released != 7 {
		t.Errorf("%v after %v", p.back, p.released)
	}
}
