//go:build dpdk

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// outcome is what one kind of fault did, as out/faults.json has it.
type outcome struct {
	Name     string  `json:"name"`
	Times    int     `json:"times"`
	Lost     int     `json:"lossless_lost"` // except those that a fault is to lose
	Ordered  int     `json:"watchdog_ordered"`
	Counters bool    `json:"counters_ok"`
	Recover  float64 `json:"recovered_s"` // the longest it took
}

// faultResults is out/faults.json.
type faultResults struct {
	Seconds  float64    `json:"seconds"`
	Faults   []*outcome `json:"faults"`
	Lossless int        `json:"lossless_frames"`
	RSSStart int64      `json:"rss_start_bytes"`
	RSSEnd   int64      `json:"rss_end_bytes"`
}

// fault is a kind of fault. do inflicts it once, sees that it had its effect, and takes it back.
type fault struct {
	name string
	cuts bool // the victim's link: what is on its way to the victim then is gone
	do   func(c *campaign)
}

// TestFaults has a switch with two workers go through every kind of fault in turn, once or for as long as FAULTS
// says (`make faults`), under steady lossless and lossy load: raw frames between hosts, and a flow between two agents.
//
// Nothing lossless is lost, but for what the watchdog was ordered to drop. One host is the victim: links go down, peers
// storm and XONs are lost at its port. What waits for the victim, or is sent to it, while its link is down has nowhere
// to go: the switch counts it as link_down, and no counter has the frames in the cable at that moment. That is the
// link's doing, no loss of a network whose peers obey PFC, so of faults that cut the victim's link what is
// for the victim is left out. All streams between the others are to arrive whole, and so is what
// the victim itself has sent, for it does not send while its link is down.
//
// After each fault all streams go on, and the agents' flow; that is the time to recover. Then senders rest, and what
// the switch counted is compared with what the kernel counted at the hosts, and with the streams.
func TestFaults(t *testing.T) {
	span := time.Duration(0)
	file := filepath.Join(t.TempDir(), "faults.json")
	if s := os.Getenv("FAULTS"); s != "" {
		var err error
		if span, err = time.ParseDuration(s); err != nil {
			t.Fatalf("FAULTS: %v", err)
		}
		file = "../../out/faults.json"
	}
	c := newCampaign(t)
	kinds := []fault{
		{name: "flap", cuts: true, do: (*campaign).flap},
		{name: "flap under XOFF", cuts: true, do: (*campaign).flapUnderXOFF},
		{name: "peer gone and back", cuts: true, do: (*campaign).peerGone},
		{name: "memif server hung", cuts: true, do: (*campaign).memifHangs},
		{name: "PAUSE storm", do: (*campaign).storm},
		{name: "lost XON", do: (*campaign).lostXON},
		{name: "lost CNP", do: (*campaign).lostCNP},
		{name: "CNP flood", do: (*campaign).floodOfCNPs},
		{name: "50 malformed frames", do: (*campaign).malformed},
		{name: "60 B flood", do: (*campaign).floodOfSmall},
		{name: "reload good", do: (*campaign).reloadGood},
		{name: "reload bad", do: (*campaign).reloadBad},
		{name: "ports come and go", do: (*campaign).portsComeAndGo},
		{name: "worker stalled", do: (*campaign).stall},
		{name: "capture on a full disk", do: (*campaign).fullDisk},
		{name: "scrape storm", do: (*campaign).scrapes},
		{name: "slow readers", do: (*campaign).slowReaders},
		{name: "agent restarted", do: func(c *campaign) { c.restart(sendingAgent) }},
		{name: "receiver restarted", do: func(c *campaign) { c.restart(receivingAgent) }},
	}
	var r faultResults
	for i := range kinds {
		r.Faults = append(r.Faults, &outcome{Name: kinds[i].name, Counters: true})
	}
	begin := time.Now()
	var first, last memory // after one round of all kinds, and at the end
	goroutines := 0.0
	for round := 0; round == 0 || time.Since(begin) < span; round++ {
		for i := range kinds {
			if round > 0 && time.Since(begin) >= span {
				break
			}
			c.inflict(&kinds[i], r.Faults[i])
		}
		if round == 0 {
			first, goroutines = c.memory(), c.metric("go_goroutines")
		}
	}
	last = c.memory()
	if n := c.metric("go_goroutines"); n > goroutines+20 { // those of a connection that is being answered come and go
		t.Errorf("%v goroutines after one round, %v at the end", goroutines, n)
	}
	r.Seconds, r.RSSStart, r.RSSEnd, r.Lossless = time.Since(begin).Seconds(), first.resident, last.resident, c.end()
	write(t, file, &r)
	// Frame buffers and the kernel's rings are touched one by one, and are not the process's own memory, which is what
	// could leak.
	if last.live > first.live+4<<20 {
		t.Errorf("%d KB live in Go's heap after one round, %d at the end", first.live>>10, last.live>>10)
	}
	if last.foreign > first.foreign+16<<20 {
		t.Errorf("%d KB of its own beside Go's heap after one round, %d at the end",
			first.foreign>>10, last.foreign>>10)
	}
}

// inflict does it once, and fills in what came of it.
func (c *campaign) inflict(f *fault, o *outcome) {
	c.t.Helper()
	before, begin := c.counts(), time.Now()
	f.do(c)
	took := time.Since(begin)
	back := c.recovered(f.name)
	c.waitUntilArrived()
	after := c.counts()
	lost, ordered, wrong := c.compare(f, before, after)
	c.resume()

	o.Times++
	o.Lost += lost
	o.Ordered += ordered
	o.Recover = max(o.Recover, back.Seconds())
	o.Counters = o.Counters && wrong == ""
	if lost != 0 {
		c.t.Errorf("%s: %d lossless frames were lost, and nobody ordered it", f.name, lost)
	}
	if wrong != "" {
		c.t.Errorf("%s: %s", f.name, wrong)
	}
	c.t.Logf("%-22s took %.1f s, %d lost, %d ordered, recovered in %.2f s",
		f.name, took.Seconds(), lost, ordered, back.Seconds())
}

// write makes the file of results.
func write(t *testing.T, file string, r *faultResults) {
	t.Helper()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// memory of a process, in bytes.
type memory struct {
	resident int64
	live     int64 // what Go's heap holds after its garbage is collected
	foreign  int64 // of the process's own, and not of Go's heap: what C and DPDK allocate, and Go's stacks
}

// memory collects the switch's garbage first: how much of it there is depends on the moment.
func (c *campaign) memory() (m memory) {
	c.t.Helper()
	r, err := c.process.inside.Client().Get("http://" + profiles + "/debug/pprof/heap?gc=1")
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusOK {
		c.t.Fatalf("profile of the heap: %s, %v", r.Status, err)
	}
	now := c.process.metrics()
	live, heap := now["go_memstats_heap_alloc_bytes"], now["go_memstats_heap_sys_bytes"]
	if live == 0 || heap == 0 {
		c.t.Fatal("no metrics of Go's heap")
	}
	heap -= now["go_memstats_heap_released_bytes"]
	m.resident = statusOf(c.t, c.process, "VmRSS:")
	m.live = int64(live)
	m.foreign = statusOf(c.t, c.process, "RssAnon:") - int64(heap)
	return m
}
