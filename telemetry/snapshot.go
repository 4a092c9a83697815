package telemetry

import (
	"iter"
	"time"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// Snapshot is what a scrape shows, all of one instant.
type Snapshot struct {
	Node     string
	Now      units.Time
	Wall     time.Time    // the same instant by the wall's clock
	Laps     uint64       // that the clock of Now was set back
	Ports    []string     // names, by number; empty: no port is there
	Rates    []units.Rate // of their links as configured
	Lossless uint8        // priorities with PFC, as bits
	Scheme   string
	Stats    fabric.Stats
	Devices  []dpdk.DeviceStats
	Pace     dpdk.Pace
	Polls    []dpdk.Polls // by worker
	Host     bool         // notification and reaction points are there
	NIC      bool         // a host that carries the frames of applications
	Orders   *FlowCounts  // of an agent that takes orders

	// Switches only.
	Survived    units.Time // poll gap that headroom and receive rings of all ports have room for
	Response    units.Time // poll gap that the headroom has room for; 0: unknown
	Buffer      *dataplane.BufferState
	Params      []scheme.Setting
	Watchdog    pfc.WatchdogConfig
	Deadlock    units.Time       // a queue that is paused for so long may be in one; 0: they are not looked for
	LinkChanges []uint64         // up or down, by port
	Residences  []dpdk.Residence // how long frames were in the switch that left by a port
	Shut        []bool           // by an operator, by port
	Gone        uint64           // lossless frames that were lost at ports that have been removed
	LLDP        []LLDPPort       // by port; nil: the switch does not speak it

	// FirstLosses are when the first lossless frames were lost, by port, as it was first worked out; zero: nobody did.
	// The two clocks drift, and what has happened does not move.
	FirstLosses [][pfc.Classes]time.Time
}

// Numbers are those of the ports that are there.
func (s *Snapshot) Numbers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.Stats.Ports {
			if s.Ports[i] != "" && !yield(i) {
				return
			}
		}
	}
}

// Port is the name of a port by its number; empty: it was not there at that instant.
func (s *Snapshot) Port(number uint16) string {
	if int(number) < len(s.Ports) {
		return s.Ports[number]
	}
	return ""
}

// FlowCounts are how many flows wait for their start and are sent, and how many
// were refused and failed in all.
type FlowCounts struct {
	Pending, Running int
	Refused, Failed  uint64
}

// GapBounds are the bounds of a worker's polling gaps in seconds.
func GapBounds() (b []float64) {
	for i := range dpdk.GapBounds {
		b = append(b, dpdk.GapBound(i).Seconds())
	}
	return b
}

// WallAt is an instant of the node's clock by the wall's.
func (s *Snapshot) WallAt(t units.Time) time.Time {
	return s.Wall.Add(-time.Duration((s.Now - t) / units.Nanosecond))
}

// FirstLoss is when the first frame of a lossless priority of a port was lost, if one was.
func (s *Snapshot) FirstLoss(port, prio int) (at time.Time, lost bool) {
	first := s.Stats.Ports[port].LostAt[prio]
	if first == units.Never {
		return at, false
	}
	if port < len(s.FirstLosses) && !s.FirstLosses[port][prio].IsZero() {
		return s.FirstLosses[port][prio], true
	}
	return s.WallAt(first), true
}

// Bare are sizes as bare numbers of bytes, as switches print them; in JSON a units.Size
// would be text.
func Bare(sizes [pfc.Classes]units.Size) (n [pfc.Classes]int64) {
	for i, s := range sizes {
		n[i] = int64(s)
	}
	return n
}

// Source is where documents come from.
type Source struct {
	Snapshot   func() Snapshot             // counters, all of one instant
	FDB        func() []dataplane.FDBEntry // nil: hosts have none
	Addresses  func() (known, places int)  // of the FDB, without a list of them; nil: the same
	Forwarding func() dataplane.Forwarding // the same
	SFlow      func() SFlow                // the same
	Past       func() Past                 // the same
	Flows      func(top int) *Survey       // nil: switches send none; top is how many it lists
}
