package chakra

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"photon/units"
)

// Kind is what a node is about.
type Kind int64

// Kinds of nodes, as et_def.proto numbers them.
const (
	Metadata Kind = iota + 1
	MemLoad
	MemStore
	Compute
	Send
	Receive
	Collective
)

// Node is what a rank does.
type Node struct {
	ID       uint64
	Name     string
	Kind     Kind
	After    []uint64   // ids of nodes that must have ended
	Duration units.Time // of what is computed
	Type     int64      // of a collective
	Size     units.Size // of what is communicated
	Peer     int64      // of a message
	Tag      int64
	Group    string // of a collective; "": all ranks
}

// Rank is a rank's trace.
type Rank struct {
	File  string
	Nodes []Node
}

// mostNodes is how many nodes a rank's trace may have.
const mostNodes = 1 << 22

// Read reads a rank's trace: metadata, and nodes, each with its length before it.
func Read(file string, b []byte) (*Rank, error) {
	r := &Rank{File: file}
	wrong := func(err error) error {
		if len(r.Nodes) == 0 {
			return fmt.Errorf("%s: %w", file, err)
		}
		return fmt.Errorf("%s: behind node %d: %w", file, r.Nodes[len(r.Nodes)-1].ID, err)
	}
	for first := true; len(b) > 0; first = false {
		m, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return nil, wrong(errors.New("the file ends within a message, or is no Chakra trace"))
		}
		if b = b[n:]; first {
			if err := fields(m, func(protowire.Number, uint64, []byte) error { return nil }); err != nil {
				return nil, wrong(fmt.Errorf("metadata: %w", err))
			}
			continue
		}
		var x Node
		if err := x.read(m); err != nil {
			return nil, wrong(err)
		}
		if r.Nodes = append(r.Nodes, x); len(r.Nodes) > mostNodes {
			return nil, wrong(fmt.Errorf("more than %d nodes", mostNodes))
		}
	}
	if len(r.Nodes) == 0 {
		return nil, wrong(errors.New("there are no nodes"))
	}
	return r, r.check()
}

// fields calls do for each field of a message, with its number, or its bytes.
func fields(b []byte, do func(number protowire.Number, v uint64, bytes []byte) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(b)
			v = uint64(w)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(b)
			if n >= 0 && bytes == nil {
				bytes = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := do(number, v, bytes); err != nil {
			return err
		}
	}
	return nil
}

// Numbers of the fields of Node.
const (
	nodeID       = 1
	nodeName     = 2
	nodeType     = 3
	nodeCtrl     = 4
	nodeData     = 5
	nodeDuration = 7
	nodeAttr     = 10
)

func (x *Node) read(b []byte) error {
	var ends ends // the kind of the node, which says which of them it names, may come behind them
	err := fields(b, func(number protowire.Number, v uint64, bytes []byte) error {
		switch number {
		case nodeID:
			x.ID = v
		case nodeName:
			x.Name = string(bytes)
		case nodeType:
			x.Kind = Kind(v)
		case nodeCtrl, nodeData:
			if bytes == nil {
				x.After = append(x.After, v)
			}
			for len(bytes) > 0 { // packed
				id, n := protowire.ConsumeVarint(bytes)
				if n < 0 {
					return fmt.Errorf("node %d: what it depends on: %w", x.ID, protowire.ParseError(n))
				}
				bytes = bytes[n:]
				x.After = append(x.After, id)
			}
		case nodeDuration:
			if v > uint64(math.MaxInt64/units.Microsecond) {
				return fmt.Errorf("node %d: %d us are too long", x.ID, v)
			}
			x.Duration = units.Time(v) * units.Microsecond
		case nodeAttr:
			if err := x.attribute(bytes, &ends); err != nil {
				return fmt.Errorf("node %d: an attribute: %w", x.ID, err)
			}
		}
		return nil
	})
	if x.Peer = ends.from; x.Kind == Send {
		x.Peer = ends.to
	}
	return err
}

// ends are the ranks that a message goes from and to; of the rank's own nothing need be said.
type ends struct{ from, to int64 }

// attribute reads a further attribute of a node. Whole numbers may be of any type.
func (x *Node) attribute(b []byte, ends *ends) error {
	var name, text string
	var number int64
	err := fields(b, func(field protowire.Number, v uint64, bytes []byte) error {
		switch field {
		case 1:
			name = string(bytes)
		case 3:
			number = int64(math.Float64frombits(v))
		case 5:
			number = int64(math.Float32frombits(uint32(v)))
		case 7, 9, 11, 13, 19, 21, 25, 27: // int32 to uint64, fixed, bool
			number = int64(v)
		case 23:
			number = int64(int32(uint32(v)))
		case 15, 17:
			number = protowire.DecodeZigZag(v)
		case 29, 31:
			text = string(bytes)
		}
		return nil
	})
	switch name {
	case "comm_type":
		x.Type = number
	case "comm_size":
		x.Size = units.Size(number)
	case "comm_src":
		ends.from = number
	case "comm_dst":
		ends.to = number
	case "comm_tag":
		x.Tag = number
	case "pg_name":
		x.Group = text
	}
	return err
}

// check finds nodes that depend on what is not there, or on themselves.
func (r *Rank) check() error {
	place := make(map[uint64]int, len(r.Nodes))
	for i := range r.Nodes {
		x := &r.Nodes[i]
		if _, twice := place[x.ID]; twice {
			return fmt.Errorf("%s: node %d is there twice", r.File, x.ID)
		}
		place[x.ID] = i
		if x.Kind < Metadata || x.Kind > Collective {
			return fmt.Errorf("%s: node %d: there is no type %d", r.File, x.ID, x.Kind)
		}
		if x.Kind >= Send && (x.Size <= 0 || x.Size > 1<<40) && (x.Kind != Collective || x.Type != barrier) {
			return fmt.Errorf("%s: node %d: comm_size %d: from 1 to 2^40 bytes", r.File, x.ID, x.Size)
		}
	}
	missing := make([]int, len(r.Nodes))
	behind := make([][]int, len(r.Nodes))
	for i := range r.Nodes {
		for _, id := range r.Nodes[i].After {
			k, ok := place[id]
			if !ok {
				return fmt.Errorf("%s: node %d depends on node %d, which is not there", r.File, r.Nodes[i].ID, id)
			}
			missing[i]++
			behind[k] = append(behind[k], i)
		}
	}
	var ready []int
	for i, n := range missing {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, k := range behind[i] {
			if missing[k]--; missing[k] == 0 {
				ready = append(ready, k)
			}
		}
	}
	for i, n := range missing {
		if n > 0 {
			return fmt.Errorf("%s: node %d depends on itself, by way of others", r.File, r.Nodes[i].ID)
		}
	}
	return nil
}
