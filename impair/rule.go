package impair

import (
	"fmt"
	"slices"
	"strings"

	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Action is what is done to a frame.
type Action uint8

// Actions.
const (
	Lose Action = iota
	Duplicate
	Reorder // some later frames pass it
	Delay
	Corrupt // a bit behind the headers is turned over
	Mark    // CE, if it is ECN-capable
	Pause   // frames are left alone: an XOFF is put before the port now and then
	Actions // how many there are
)

var actionNames = [Actions]string{"lose", "duplicate", "reorder", "delay", "corrupt", "mark", "pause"}

func (a Action) String() string { return actionNames[a] }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Action) UnmarshalText(b []byte) error {
	return parseName(string(b), actionNames[:], (*uint8)(a))
}

// Kind is which frames a rule is about.
type Kind uint8

// Kinds.
const (
	All Kind = iota
	Data
	ACK
	CNP
	PFC // XOFF and XON
	XOFF
	XON
	kinds
)

var kindNames = [kinds]string{"all", "data", "ack", "cnp", "pfc", "xoff", "xon"}

func (k Kind) String() string { return kindNames[k] }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(b []byte) error { return parseName(string(b), kindNames[:], (*uint8)(k)) }

func parseName(name string, names []string, v *uint8) error {
	i := slices.Index(names, name)
	if i < 0 {
		return fmt.Errorf("%q: there are %s", name, strings.Join(names, ", "))
	}
	*v = uint8(i)
	return nil
}

// Rule says what becomes of which frames. Frames match if all that is said of them is so; Part or
// Numbers say which of those it is done to, and without either it is all of them.
type Rule struct {
	Do       Action
	Kind     Kind
	Priority int     // -1: any. Of a PFC frame: it is about that one
	QP       uint32  // destination queue pair; 0: any
	From, To wire.IP // zero: any
	Part     float64 // of the frames that match, at random; 0: see Numbers
	Numbers  []uint64
	Start    units.Time // not before
	Stop     units.Time // not from then on; 0: there is no end
	By       units.Time // Delay: so long
	Behind   int        // Reorder: so many frames
	Every    units.Time // Pause: between two XOFFs
}

// Most is how many frames a port may hold back. What comes beyond is not delayed.
const Most = 4096

// mostWait is how long a frame waits for those that are to pass it.
const mostWait = units.Millisecond

// Check says what is wrong with a rule, in one line.
func (r *Rule) Check() error {
	switch {
	case !(r.Part >= 0 && r.Part <= 1):
		return fmt.Errorf("rate %v: a part of the frames, from 0 to 1", r.Part)
	case r.Part > 0 && len(r.Numbers) > 0:
		return fmt.Errorf("rate and packets: either one")
	case slices.Contains(r.Numbers, 0):
		return fmt.Errorf("packets are counted from 1")
	case r.Priority < -1 || r.Priority >= pfc.Classes:
		return fmt.Errorf("priority %d: there are 0 to 7", r.Priority)
	case r.QP >= 1<<24:
		return fmt.Errorf("queue_pair %d has more than 24 bits", r.QP)
	case r.Start < 0 || r.Stop < 0 || r.Stop > 0 && r.Stop <= r.Start:
		return fmt.Errorf("from %v to %v: there is no such span", r.Start, r.Stop)
	case (r.Do == Delay) != (r.By > 0) || r.By < 0:
		return fmt.Errorf("by is how long frames are delayed, above 0, and goes with `do: delay`")
	case (r.Do == Reorder) != (r.Behind > 0) || r.Behind < 0:
		return fmt.Errorf("behind is how many frames pass, above 0, and goes with `do: reorder`")
	case (r.Do == Pause) != (r.Every > 0) || r.Every < 0:
		return fmt.Errorf("every is how often the port is paused, above 0, and goes with `do: pause`")
	case r.Do == Pause && (r.Kind != All || r.QP != 0 || r.From != wire.IP{} || r.To != wire.IP{} || r.Part > 0 || r.Numbers != nil):
		return fmt.Errorf("pause has a priority, every, start and stop: it is about no frames")
	}
	return nil
}

// about is what a rule asks of a frame.
type about struct {
	kind Kind
	pfc  *pfc.Frame // of kind XOFF and XON
	prio int        // -1: none
	qp   uint32
	ip   bool
	from wire.IP
	to   wire.IP
}

// matches reports whether the rule is about a frame.
func (r *Rule) matches(a *about) bool {
	kind := a.kind
	if a.pfc != nil && r.Priority >= 0 { // what the frame says of this one
		if kind = XON; a.pfc.Quanta[r.Priority] > 0 {
			kind = XOFF
		}
	}
	switch {
	case r.Kind == PFC && kind != XOFF && kind != XON, r.Kind != All && r.Kind != PFC && r.Kind != kind:
		return false
	case r.Priority >= 0 && a.pfc != nil:
		return a.pfc.Enable>>r.Priority&1 != 0 && r.QP == 0 && r.From == wire.IP{} && r.To == wire.IP{}
	case r.Priority >= 0 && a.prio != r.Priority, r.QP != 0 && a.qp != r.QP:
		return false
	}
	return (r.From == wire.IP{} || a.ip && a.from == r.From) && (r.To == wire.IP{} || a.ip && a.to == r.To)
}

// classify reads what rules ask of a frame.
func classify(b []byte, prio func([]byte) int, a *about) {
	*a = about{kind: All, prio: -1}
	var h wire.Header
	if !wire.Parse(b, &h) {
		return
	}
	if h.EtherType == wire.TypeMACControl {
		var f pfc.Frame
		if f.Decode(b) == nil {
			a.kind, a.pfc = XON, &f
			for p, q := range f.Quanta {
				if f.Enable>>p&1 != 0 && q > 0 {
					a.kind = XOFF
				}
			}
		}
		return
	}
	a.prio = prio(b)
	if h.L3 > 0 {
		a.ip = true
		a.from, a.to = wire.Addresses(b[h.L3:])
	}
	if h.BTH == 0 {
		return
	}
	bth := wire.BTH(b[h.BTH:])
	a.qp = bth.DestQP()
	switch op := bth.Opcode(); {
	case op == wire.OpCNP:
		a.kind = CNP
	case op == wire.OpAcknowledge:
		a.kind = ACK
	default:
		a.kind = Data
	}
}
