// Package node has the documents that a testbed and its nodes exchange: who a node is, what
// it is to send and to record, and what it recorded. Their readers do not depend on how
// they are requested.
package node

import (
	"net/netip"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Info is who a node is.
type Info struct {
	Name     string       `json:"name"`
	Switch   bool         `json:"switch"`
	Ports    []string     `json:"ports"`
	Rates    []units.Rate `json:"rates"`        // of the links, by port
	Lossless uint8        `json:"lossless"`     // set of priorities
	IP       wire.IP      `json:"ip,omitempty"` // of an agent
	// Gateway is the router of an agent, to which packets go that leave its Network; nil: it has none.
	Gateway  *Gateway   `json:"gateway,omitempty"`
	MAC      wire.MAC   `json:"mac,omitempty"`       // of an agent
	Payload  units.Size `json:"payload,omitempty"`   // of an agent's full packet
	AckEvery int        `json:"ack_every,omitempty"` // one packet in so many of an agent asks for an acknowledgement; 0: the last of a flow alone
	// Times are an agent's, as its file says.
	AckTimeout units.Time `json:"ack_timeout,omitempty"`
	NPDelay    units.Time `json:"np_delay,omitempty"`
	PauseDelay units.Time `json:"pause_delay,omitempty"`
	// Priorities are an agent's; nil: it does not say.
	Priorities *Priorities `json:"priorities,omitempty"`
	// LossyQueue is what an egress queue of a lossy priority of a switch holds; 0: it does not say. LossyIngress is
	// what lossy frames that came through a port may have of the buffer, by port; 0: there is no limit.
	LossyQueue   units.Size   `json:"lossy_queue,omitempty"`
	LossyIngress []units.Size `json:"lossy_ingress,omitempty"`
	// LossyAlpha bounds such a queue by this part of what is free of the buffer, too; 0: no such limit. Shared is the
	// buffer of a switch that is set aside for nothing.
	LossyAlpha float64    `json:"lossy_alpha,omitempty"`
	Shared     units.Size `json:"shared,omitempty"`
	// Floods says that a switch sends some frames to all ports: where links form a loop these go round for ever.
	Floods bool `json:"floods,omitempty"`
	// Paths is how a switch chooses among ports of equal cost; empty: it does not say.
	Paths string `json:"paths,omitempty"`
	// Selective is how an agent repeats what is lost, in words; empty: it goes back to it. Entropy is what of its flows
	// has a UDP source port of its own; empty: it does not say.
	Selective string `json:"selective,omitempty"`
	Entropy   string `json:"entropy,omitempty"`
	// Thresholds are those of a switch, by port, of its lossless priorities.
	Thresholds [][pfc.Classes]pfc.Thresholds `json:"thresholds,omitempty"`
	// Shapers say what shapers of a switch let leave at most, by port and priority: 0 is what the link takes.
	Shapers [][pfc.Classes]units.Rate `json:"shapers,omitempty"`
	// Besides is what else a node does that those of experiments do not, in words that go with its name.
	Besides  []string     `json:"besides,omitempty"`
	Scheme   string       `json:"scheme"`     // in force
	Now      units.Time   `json:"now"`        // the node's clock
	Balanced string       `json:"unbalanced"` // what is wrong in its audit; empty: nothing
	Missed   uint64       `json:"missed"`     // frames that its devices and the kernel dropped
	Stats    fabric.Stats `json:"stats"`
}

// Gateway is a router.
type Gateway struct {
	MAC     wire.MAC     `json:"mac"`
	Network netip.Prefix `json:"network"` // what is not behind it
}

// Priorities are those of what an agent sends besides data: 0 to 7.
type Priorities struct {
	Ack int `json:"ack"`
	CNP int `json:"cnp"`
}

// Scheme is the scheme that a node is to have.
type Scheme struct {
	Name   string            `json:"name"`
	Params map[string]string `json:"params"`
	// Priorities, of switches, are those that have it; nil: the lossless ones.
	Priorities []int `json:"priorities,omitempty"`
	// Shares, of switches, say what flows are entitled to; others have weight 1.
	Shares []Share `json:"shares,omitempty"`

	Network *Network `json:"network,omitempty"` // nil: nothing is known of it but the node's own links
}

// Share is what a flow is entitled to under a scheme that knows of shares (marking.Share).
type Share struct {
	From   wire.IP    `json:"from"`
	To     wire.IP    `json:"to"`
	QP     uint32     `json:"qp"`
	Weight float64    `json:"weight"`
	Cap    units.Rate `json:"cap,omitempty"` // 0: none
}

// Network is what the scheme may know of the experiment's network, as in virtual time (scheme.Network, which says
// what each is). An agent's line is its own link's, whatever Line is.
type Network struct {
	Line      units.Rate   `json:"line"`
	Rates     []units.Rate `json:"rates"`
	RTT       units.Time   `json:"rtt"`
	PathRTT   units.Time   `json:"path_rtt"`
	Hops      int          `json:"hops"`
	Packet    units.Size   `json:"packet"`
	LongFlows int          `json:"long_flows"`
	Seed      uint64       `json:"seed"`
}

// Watch is what a node is to record.
type Watch struct {
	From     units.Time `json:"from"`  // the node's time; the first sample is one span later
	Every    units.Time `json:"every"` // a multiple of WatchTick
	Samples  int        `json:"samples"`
	Flows    []uint64   `json:"flows"`    // of an agent: those it sends, by number
	Received []PeerFlow `json:"received"` // of an agent: those it receives
	// Priorities, of a switch, are the set that it records; 0: the lossless ones.
	Priorities uint8 `json:"priorities,omitempty"`
}

// PeerFlow is a flow as its receiver knows it.
type PeerFlow struct {
	From wire.IP `json:"from"`
	QP   uint32  `json:"qp"`
}

const (
	// WatchTick is how often a node looks whether a sample is due.
	WatchTick = 10 * units.Microsecond
	// MostWatched bounds a recording: values, of 8 bytes.
	MostWatched = 16 << 20
)

// Recording is what a node has recorded: columns of values as they were, one for
// each sample; counters count from the node's start. Done says that it is complete, and
// From is of the Watch that asked for it, by which that is known again.
type Recording struct {
	Done bool       `json:"done"`
	From units.Time `json:"from"`
	// Late is by how much the latest sample came after its time, since the node polled no sooner: 0 or more.
	Late   units.Time `json:"late,omitempty"`
	Begin  []int64    `json:"begin"` // by column, at the start
	Names  []string   `json:"names"`
	Values [][]int64  `json:"values"`
}

// FlowOrders is what an agent is asked to send.
type FlowOrders struct {
	// Origin is the agent's time from which starts and stops count; 0: when it
	// gets the orders.
	Origin units.Time  `json:"origin,omitempty"`
	Flows  []FlowOrder `json:"flows"`
}

// FlowOrder is one flow of them. Quantities are text with units, which says them
// exactly.
type FlowOrder struct {
	Group   string     `json:"group,omitempty"`
	To      wire.IP    `json:"to"`
	ToMAC   wire.MAC   `json:"to_mac,omitempty"`   // 0: the gateway's, or what agents make of their address
	QP      uint32     `json:"qp,omitempty"`       // both ends use it; 0: the agent's choice
	SrcPort uint16     `json:"src_port,omitempty"` // of UDP; 0: made from the queue pair
	DSCP    uint8      `json:"dscp,omitempty"`     // 0: the agent's for data
	Size    units.Size `json:"size,omitempty"`     // of payload; 0: until it is stopped
	Start   units.Time `json:"start,omitempty"`
	Stop    units.Time `json:"stop,omitempty"`  // 0: at its end
	Limit   units.Rate `json:"rate,omitempty"`  // never faster; 0: no limit
	Begin   units.Rate `json:"begin,omitempty"` // first rate; 0: line rate
	Shared  uint32     `json:"shared,omitempty"`
	Weight  int        `json:"weight,omitempty"` // at the port; 0: 1
	Tenant  string     `json:"tenant,omitempty"` // of the agent's; empty: of none
}

// FlowsOrdered is the answer: numbers First to First+Count-1.
type FlowsOrdered struct {
	First uint64 `json:"first"`
	Count int    `json:"count"`
}
