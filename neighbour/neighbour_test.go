package neighbour

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"photon/fdb"
	"photon/units"
	"photon/wire"
)

const (
	mac, other wire.MAC = 0x020000000002, 0x020000000003
	second              = units.Second
)

func at(m wire.MAC) fdb.Entry { return fdb.NewEntry(m, 5, Known.Kind()) }

// serve runs the timer for so many seconds, by a worker that comes by ten times a second, and says when it asked (! where
// the neighbour was), when it failed, and if it does not say whether what is known has changed.
func serve(n *Neighbour, from, seconds units.Time) (happened []string) {
	for now := from * second; now < (from+seconds)*second; now += second / 10 {
		if now < n.Due() {
			continue
		}
		before, _ := n.Load()
		do := n.Serve(now)
		if after, _ := n.Load(); do.Changed != (after != before) {
			text := fmt.Sprintf("from %x to %x at %v, changed %v", before, after, now.Seconds(), do.Changed)
			happened = append(happened, text)
		}
		if do.Ask {
			n.Asked()
			happened = append(happened, fmt.Sprint(now.Seconds(), map[bool]string{true: "!"}[do.At.MAC() != 0]))
		}
		if do.Failed {
			happened = append(happened, fmt.Sprint("failed ", now.Seconds()))
		}
	}
	return happened
}

// A silent neighbour is asked three times, a second apart, and has failed then. It is asked each ten seconds after that, and
// within a second if a packet is for it.
func TestSilent(t *testing.T) {
	n := New(Place{Addr: netip.MustParseAddr("10.0.0.2")})
	if got, want := serve(n, 0, 25), []string{"0", "1", "2", "failed 3", "10", "20"}; !slices.Equal(got, want) {
		t.Fatalf("%q, not %q", got, want)
	}
	n.Want()
	if got, want := serve(n, 25, 10), []string{"25", "30"}; !slices.Equal(got, want) {
		t.Errorf("when wanted %q, not %q", got, want)
	}
	if requests, failures := n.Counts(); requests != 7 || failures != 1 {
		t.Errorf("%d requests, %d failures", requests, failures)
	}
	if _, status := n.Status(); Statuses[status] != "failed" {
		t.Error(Statuses[status])
	}
}

// An answer is good for half a minute. Then the neighbour is asked where it was, three times, and at last everywhere.
func TestAnswerAges(t *testing.T) {
	n := New(Place{})
	serve(n, 0, 1)
	if !n.Update(&wire.Binding{MAC: mac, Answer: true}, at(mac)) {
		t.Fatal("an answer changes nothing")
	}
	want := []string{"31!", "32!", "33!", "34", "35", "36", "failed 37", "44"} // the timer of the request comes at 1 s
	if got := serve(n, 1, 50); !slices.Equal(got, want) {
		t.Fatalf("%q, not %q", got, want)
	}
	n.Restart(60 * second)
	n.Update(&wire.Binding{MAC: mac}, at(mac))
	serve(n, 60, 30)
	n.Update(&wire.Binding{MAC: mac}, at(mac)) // it has announced itself meanwhile
	if got := serve(n, 90, 30); got != nil {
		t.Errorf("one that was heard of lately is asked: %q", got)
	}
	if got, want := serve(n, 120, 1), []string{"120!"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	is := func(want string) {
		t.Helper()
		if _, status := n.Status(); Statuses[status] != want {
			t.Errorf("it is %s, not %s", Statuses[status], want)
		}
	}
	is("probe")
	n.Update(&wire.Binding{MAC: mac}, at(mac)) // the timer has not come yet
	is("reachable")
	serve(n, 121, 1)
	is("reachable")
	due := n.Due()
	if n.Rebase(100 * second); n.Due() != due-100*second {
		t.Errorf("due at %v, by a clock that was set back at %v", due, n.Due())
	}
	// What is known is forgotten, and asked for at once.
	n.Restart(50 * second)
	is("incomplete")
	if e, state := n.Load(); e.MAC() != 0 || state != Incomplete {
		t.Errorf("%x, %v", e, state)
	}
	if got, want := serve(n, 50, 2), []string{"50", "51"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// One that is forgotten is asked at once, although it has answered since its timer last ran.
func TestForgottenAfterItsAnswer(t *testing.T) {
	n := New(Place{Addr: netip.MustParseAddr("10.0.0.2")})
	serve(n, 0, 1)
	n.Update(&wire.Binding{MAC: 7, Override: true}, at(7))
	n.Restart(1 * second)
	if got, want := serve(n, 1, 25), []string{"1", "2", "3", "failed 4", "11", "21"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// Which claims are believed (RFC 4861 section 7.2.5).
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		name     string
		resolved bool
		says     wire.Binding
		from     wire.MAC
		believed bool
	}{
		{"an answer to what is not known", false, wire.Binding{MAC: mac}, mac, true},
		{"one without an address of the link", false, wire.Binding{}, mac, false},
		{"the same again", true, wire.Binding{MAC: mac}, mac, false},
		{"another station, which does not insist", true, wire.Binding{MAC: other}, other, false},
		{"another station, which does", true, wire.Binding{MAC: other, Override: true}, other, true},
	} {
		n := New(Place{})
		if c.resolved {
			n.Update(&wire.Binding{MAC: mac}, at(mac))
		}
		before, _ := n.Load()
		if changed := n.Update(&c.says, at(c.from)); changed != c.believed {
			t.Errorf("%s: changed %v", c.name, changed)
		}
		if now, _ := n.Load(); (now == at(c.from) && now != before) != c.believed {
			t.Errorf("%s: %x, and %x before", c.name, now, before)
		}
	}
	n := New(Place{})
	if n.Move(mac, 6) || n.Move(0, 6) {
		t.Error("a station moves that is nobody's")
	}
	n.Update(&wire.Binding{MAC: mac}, at(mac))
	if n.Move(other, 6) || n.Move(mac, 5) || !n.Move(mac, 6) {
		t.Error("it moves with another station, without one, or not with its own")
	}
	if e, state := n.Load(); e.MAC() != mac || e.Value() != 6 || state != Known {
		t.Errorf("it has moved to %x, %v", e, state)
	}
	if got, want := serve(n, 0, 32), []string{"30!"}; got[0] != want[0] {
		t.Errorf("one that moved is asked at %q, not %q", got, want)
	}
	n = New(Place{})
	n.Update(&wire.Binding{MAC: mac}, at(mac))
	if moved := fdb.NewEntry(mac, 6, Known.Kind()); !n.Update(&wire.Binding{MAC: mac}, moved) {
		t.Error("a station that has moved to another port is not followed")
	}
}
