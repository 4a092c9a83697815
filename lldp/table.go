package lldp

import (
	"slices"
	"time"
)

// MaxNeighbours is how many a port keeps: one is usual, several are behind a hub or a bridge that forwards LLDP.
const MaxNeighbours = 8

// Neighbour is one who spoke at a port.
type Neighbour struct {
	Info
	Until time.Time // what it said holds
}

// Table is who is behind the ports, by number. The zero value is empty. It is not for several goroutines at a time.
type Table struct {
	ports map[int][]Neighbour
	// Lost counts neighbours that were not taken up because a port had MaxNeighbours, Aged those that fell silent.
	Lost, Aged uint64
}

// Update takes what a port received. It reports whether that is a neighbour which was not there before.
func (t *Table) Update(now time.Time, port int, i *Info) (isNew bool) {
	list := t.ports[port]
	at := slices.IndexFunc(list, func(n Neighbour) bool { return n.Chassis == i.Chassis && n.Port == i.Port })
	switch {
	case i.TTL == 0 && at >= 0: // it takes leave
		t.set(port, slices.Delete(list, at, at+1))
	case i.TTL == 0:
	case at >= 0:
		list[at].Info, list[at].Until = *i, now.Add(time.Duration(i.TTL)*time.Second)
	case len(list) == MaxNeighbours:
		t.Lost++
	default:
		t.set(port, append(list, Neighbour{*i, now.Add(time.Duration(i.TTL) * time.Second)}))
		return true
	}
	return false
}

func (t *Table) set(port int, list []Neighbour) {
	if t.ports == nil {
		t.ports = map[int][]Neighbour{}
	}
	t.ports[port] = list
}

// Expire forgets those that fell silent, and returns them by port.
func (t *Table) Expire(now time.Time) (gone map[int][]Neighbour) {
	for port, list := range t.ports {
		t.ports[port] = slices.DeleteFunc(list, func(n Neighbour) bool {
			if now.Before(n.Until) {
				return false
			}
			if gone == nil {
				gone = map[int][]Neighbour{}
			}
			gone[port] = append(gone[port], n)
			t.Aged++
			return true
		})
	}
	return gone
}

// Forget forgets a port's: its link is gone.
func (t *Table) Forget(port int) { delete(t.ports, port) }

// At returns a port's, in the order in which they came. They may be kept.
func (t *Table) At(port int) []Neighbour { return slices.Clone(t.ports[port]) }
