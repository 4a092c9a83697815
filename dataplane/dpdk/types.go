package dpdk

import (
	"errors"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// ErrNotBuilt is returned by New in a photon that was built without DPDK.
var ErrNotBuilt = errors.New("this photon was built without DPDK: run `make build` in its source tree (it installs libdpdk-dev and builds with the tag dpdk)")

// Options of a world. Zero values are the defaults.
type Options struct {
	Workers   int        // pinned goroutines; 1
	Cores     []int      // where they run; the last ones of the machine
	Dilation  int        // how much slower than the wall the clock runs; 1
	EAL       []string   // further arguments of DPDK's environment abstraction layer
	Hugepages bool       // use them; else ordinary memory
	PCI       []string   // devices that DPDK may take from the PCI bus, by address
	Frames    int        // frame buffers; 32768
	Most      int        // frame buffers that a later world of the process may have; 0: as many. See New
	FrameSize int        // longest frame in bytes, without FCS, with two tags; 2048
	Sleep     units.Time // what an idle worker sleeps; 0: it polls without rest
	Gap       units.Time // between two polls for which cards' receive rings have room; 0: as it comes
}

// batch is how many frame buffers a worker keeps for itself; it keeps half of them when it gives some back.
const batch = 1024

// beside is what a frame buffer needs in addition to the MTU: Ethernet header and tags, and
// what the kernel puts before the frame.
const beside = 128

// FrameSize is what Options.FrameSize has to be for an MTU. It is whole KiB: so
// cards of the 82599's kind count the room of a buffer, and would spread a frame
// over two (82599 datasheet, SRRCTL.BSIZEPACKET); and so do the kernel's rings,
// whose frames must fill its pages.
func FrameSize(mtu int) int {
	return max(2048, (mtu+beside+1023)&^1023)
}

// WorldBuffers is the number of frame buffers that a world needs in addition to those in which its nodes keep frames:
// the rings of devices are full of them in both directions, workers keep some, and the rest is for frames that nodes
// make themselves, like an XOFF, which has to leave when nothing else can. gap is Options.Gap.
func WorldBuffers(devices []string, workers int, gap units.Time) int {
	n := workers*2*batch + 1024
	for _, spec := range devices {
		n += 2 * descriptors
		if IsPCI(spec) { // its rate is not known yet
			n += Descriptors(0, gap) - descriptors
		}
	}
	return n
}

// Device is a port that leads out of this process, opened and started.
type Device struct {
	Spec    string     // as it was given to Open
	MAC     wire.MAC   // of the card, or of the kernel interface
	Rate    units.Rate // of the link as the driver says; 0: it does not
	Up      bool       // there is a link
	Ring    int        // frames that wait in it at most, before they are polled; 0: it is not known
	Virtual bool       // not a card
	Shared  string     // kernel interface that the device sits on, and that the kernel answers ARP at; empty: none
	ID      uint16     // DPDK's number of it
	Node    int        // NUMA node of the card; -1: it is not known, or no card
	Driver  string     // DPDK's
	// Firmware is the version of the card's, as its driver says; empty: it does not.
	Firmware string

	FlowControl FlowControl // what the driver says of it
}

// DeviceStats are the counters of a device since it was opened.
type DeviceStats struct {
	Port       int // of its node
	Spec       string
	RxFrames   uint64 // received from the device
	TxFrames   uint64 // taken by the device
	RxBefore   uint64 // came before the workers polled, and were thrown away
	RxMissed   uint64 // dropped before we could take them: by the card, or in the kernel's ring
	RxNoBuffer uint64 // dropped because no frame buffer was free
	RxErrors   uint64
	RxSeveral  uint64 // super-frames, for a card to segment, which were dropped: offloads are on at the other end
	RxOpen     uint64 // frames whose checksum a card was to fill in: they are passed on
	TxErrors   uint64
	TxTooLong  uint64 // not given to the kernel's interface, whose MTU is less, or to a machine, whose buffers are shorter
	TxDropped  uint64 // dropped by the kernel after it took them: the other end did not, or the link was down
	Attached   uint64 // how often a kernel interface that was created again was attached in place of the old one
	RxTooLong  uint64 // frames in several buffers, which photon does not take
	Downs      uint64 // how often the link went down, however short, where the kernel or the card counts it
	LinkUp     bool
	Rate       units.Rate // of the link as the device says; 0: it does not

	FlowControl FlowControl
}

// Notice is something that happened to a device.
type Notice struct {
	Port int // of its node
	Text string
	Bad  bool // an operator has to correct something
}

// maxAhead limits what a card is given after a late poll.
const maxAhead = 10 * units.Microsecond

func aheadOf(l fabric.Link) units.Time { return 2 * l.Serialize(1518) }

// Ahead is how far ahead of its link a card is given frames at most: what waits
// in its transmit ring. Virtual devices are given each frame when it is due.
func Ahead(l fabric.Link) units.Time { return aheadOf(l) + maxAhead }

// World is a fabric.World on DPDK.
type World interface {
	fabric.World
	// Claim checks what can be checked before a device is opened, and reserves its interface
	// for this world, so that no other photon uses it. Open does so by itself.
	Claim(spec string, mtu int) error
	// Open opens and starts a device: a PCI address, or a virtual device and its
	// arguments as in "net_af_packet0,iface=sw0". mtu is the longest frame
	// without Ethernet header, tags and FCS.
	Open(spec string, mtu int) (Device, error)
	// Attach makes a device a port of a node. The port sends no faster than
	// link.Rate, which on a card is to be the card's own; 0: as fast as the
	// device takes frames. link.Delay holds every frame back, on virtual
	// devices only.
	Attach(at fabric.End, d Device, link fabric.Link) error
	// Disclaim gives up the Claim of a device that was not opened.
	Disclaim(spec string)
	// Discard closes a device that was opened, and that no port has.
	Discard(d Device)
	// Plug is Attach once the world has Started: to a place of a node where no device is, which a worker polls from now
	// on. What came before is thrown away. Nothing is changed if there is an error, but one of the kernel's interface,
	// which Reconnect tries again.
	Plug(at fabric.End, worker int, d Device, link fabric.Link) error
	// Unplug takes the device from a port once the world has Started, and closes it. What the node gave, and the device
	// has not taken, is thrown away. It returns what the device has counted.
	Unplug(at fabric.End) (DeviceStats, error)
	// Started is closed when all workers poll for the first time. Frames come from then
	// on; those that came before were thrown away.
	Started() <-chan struct{}
	// SetRate sets another rate of an attached port's link. It is called within Do.
	SetRate(at fabric.End, rate units.Rate)
	// Replace puts another node in place of one, for example one that wraps it. It is called within Do.
	Replace(id int, node fabric.Node)
	// SetUp takes the link of an attached port's device down, so that its peer sees it, or up
	// again. It reports whether the device can.
	SetUp(at fabric.End, up bool) (can bool, err error)
	// Elsewhere says that an attached card and the core of its worker are on two NUMA
	// nodes; empty: they are not, or it is not known.
	Elsewhere(at fabric.End) string
	// Devices returns the counters of the devices that were attached.
	Devices() []DeviceStats
	// Counters are all that the driver of an attached port's device counts, by DPDK's names (rx_good_packets);
	// nil: there is none.
	Counters(at fabric.End) map[string]uint64
	// Reconnect connects memif clients whose server was absent when they were opened, or has
	// ended since, and attaches kernel interfaces that were created again under their names. It
	// is to be called regularly, and returns what an operator should know.
	Reconnect() []Notice
	// Do calls f while all workers are stopped between two rounds, and returns after
	// it. If the world does not run, f is called at once. f may block; the workers
	// wait until it returns.
	Do(f func(now units.Time))
	// DoBriefly is Do for an f that never waits: not for a lock, a channel or a
	// file, and calls nothing that may (fmt has locks). It may allocate. The runtime
	// ends the process if f waits nevertheless. In return no worker gives up its
	// core.
	DoBriefly(f func(now units.Time))
	// SeldomStop promises that garbage is collected only in AllowStops: elsewhere a
	// collection would take seconds on a busy machine. From now on workers let Go's runtime stop
	// them once a millisecond, not at every round, so that they are hardly interrupted.
	SeldomStop()
	// AllowStops calls f while the workers let Go's runtime stop them at every round:
	// for a collection of garbage, which takes many times as long without.
	AllowStops(f func())
	// Idle reports whether nothing that nodes sent waits for a link or a device. It
	// is called within Do.
	Idle() bool
	// Tap copies the frames of an attached port from now on; nil ends it. It
	// is called within Do.
	Tap(at fabric.End, t *fabric.Tap)
	// Follow registers an object that is no node but has instants, which move when the clock is set back. It is called as Every is.
	Follow(r units.Rebaser)
	// Behind is by how much the round comes after the instant for which a function of Every or At is called. It is
	// called within such a function.
	Behind() units.Time
	// Laps is how often the clock was set back by units.Lap. Only a world that runs without an end does that. It is
	// called within Do, or while the world does not run.
	Laps() uint64
	// Pace returns how the clock ran. It is called within Do, or while the world
	// does not run.
	Pace() Pace
	// ClearPace resets Pace's longest gap. It is called as Pace is.
	ClearPace()
	// TimeFrames starts measuring the time that frames spend in a node: of a sample of those that leave with the port through
	// which they came in Frame.In, as they do from a switch. It is called before the world runs.
	TimeFrames(id int)
	// CopyResidences copies the measured times of frames that left by the first ports of a node, as many as the caller
	// has places for. It is called as Pace is.
	CopyResidences(id int, all []Residence)
	// CopyPolls copies the statistics of each worker's polls into places that the
	// caller has made. It is called as Pace is.
	CopyPolls(p []Polls)
}

// Pace is how the clock of a world ran, compared with the wall's.
type Pace struct {
	Rounds     uint64     // polls, all workers
	LongestGap units.Time // wall time between two rounds of a worker, worst
	Stretched  units.Time // world time left out of rounds longer than a step, closed worlds only
	Frames     int        // frame buffers that there are
	Exhausted  units.Time // world time at which a worker first found none of them free; units.Never: always some were
}
