package config

import (
	"os"
	"path/filepath"
	"slices"

	"photon/agent"
	"photon/units"
)

// Flows to queue pairs of the InfiniBand specification, and the memory of an agent that these see.

// Memory is what the peers of such a flow may write to and read from.
type Memory struct {
	Address Value[uint64]     `yaml:"address"` // by which peers name its first byte; 0
	RKey    Value[uint64]     `yaml:"rkey"`    // that peers must name
	Size    Value[units.Size] `yaml:"size"`
	File    Value[string]     `yaml:"file"` // gets what is in the memory when the agent ends; none
}

// Remote is a part of the peer's memory.
type Remote struct {
	Address Value[uint64]     `yaml:"address"`
	RKey    Value[uint64]     `yaml:"rkey"`
	Size    Value[units.Size] `yaml:"size"` // messages go round in it; absent: it has room for all
	Into    Value[uint64]     `yaml:"into"` // of read: where in the agent's memory what is read is put; absent: it is not kept
}

// Buffers are where what the peer sends is put, in turn.
type Buffers struct {
	Address Value[uint64]     `yaml:"address"` // in the agent's memory
	Size    Value[units.Size] `yaml:"size"`    // of each
	Count   Value[int]        `yaml:"count"`   // 1
}

const (
	mostMemory   = units.Size(1) << 30
	mostMessages = 1_000_000_000
)

// build is the memory, if there is any; it is made when the agent starts.
func (m *Memory) build(start bool) (*agent.Memory, error) {
	switch {
	case m == nil:
		return nil, nil
	case !m.RKey.IsSet() || m.RKey.V >= 1<<32:
		return nil, FailIn([]any{m.RKey, m}, "memory: an rkey of 32 bits belongs here (write it like `rkey: 0x1234`)")
	case m.Size.V < 1 || m.Size.V > mostMemory:
		return nil, FailIn([]any{m.Size, m}, "memory: size %v: from 1B to 1GiB", m.Size.V)
	case m.Address.V+uint64(m.Size.V) < m.Address.V:
		return nil, fail(m.Address, "memory: it ends beyond the last address of 64 bits")
	}
	if !start {
		return &agent.Memory{Address: m.Address.V, Key: uint32(m.RKey.V)}, nil
	}
	return agent.NewMemory(m.Address.V, uint32(m.RKey.V), int(m.Size.V)), nil
}

// has reports whether so many bytes of the memory are there.
func (m *Memory) has(address uint64, size units.Size) bool {
	return m != nil && address >= m.Address.V && address-m.Address.V <= uint64(m.Size.V) && uint64(size) <= uint64(m.Size.V)-(address-m.Address.V)
}

// MemoryFile opens the file that gets what is in the memory; nil: there is none.
func (c *Agent) MemoryFile() (*os.File, error) {
	if c.Memory == nil || c.Memory.File.V == "" {
		return nil, nil
	}
	f, err := os.OpenFile(c.memoryPath(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, inFile(c.file, fail(c.Memory.File, "memory: %v", plainFileError(err)))
	}
	return f, nil
}

// memoryPath is where that file is; empty: there is none. A relative path begins at this configuration's folder.
func (c *Agent) memoryPath() string {
	path := c.Memory.File.V
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.file), path)
}

// noPair says that a flow to an agent has something that only one to a queue pair of the specification has.
func (f *Flow) noPair() error {
	const why = "%s: that is of a flow to a queue pair that is not an agent's (`psn: N`: it expects this PSN first)"
	switch {
	case f.LocalQP.IsSet():
		return fail(f.LocalQP, why, "local_qp")
	case f.PeerPSN.IsSet():
		return fail(f.PeerPSN, why, "peer_psn")
	case f.Messages.IsSet():
		return fail(f.Messages, why, "messages")
	case f.Write != nil:
		return FailIn([]any{f.Write, f.To}, why, "write")
	case f.Read != nil:
		return FailIn([]any{f.Read, f.To}, why, "read")
	case f.Receive != nil:
		return FailIn([]any{f.Receive, f.To}, why, "receive")
	}
	return nil
}

// pair is what a flow to a queue pair of the specification does; nil: the flow is to an agent.
func (f *Flow) pair(c *Agent, payload int) (*agent.Pair, error) {
	if !f.PSN.IsSet() {
		return nil, f.noPair()
	}
	if err := f.checkPair(c, payload); err != nil {
		return nil, err
	}
	p := &agent.Pair{
		Local: uint32(f.LocalQP.Or(f.QP.V)), PeerPSN: uint32(f.PeerPSN.V), Expects: f.PeerPSN.IsSet(),
		Messages: f.Messages.Or(1), Size: f.Size.V,
	}
	var err error
	switch {
	case f.Write != nil:
		p.Verb = agent.Write
		p.Remote, _, err = f.Write.build("write", f.PSN, c, p)
	case f.Read != nil:
		p.Verb = agent.Read
		p.Remote, p.Into, err = f.Read.build("read", f.PSN, c, p)
	}
	if err != nil {
		return nil, err
	}
	if b := f.Receive; b != nil {
		n := b.Count.Or(1)
		switch {
		case b.Size.V < 1 || b.Size.V > mostMemory:
			return nil, FailIn([]any{b, f.PSN}, "receive: size %v: a buffer has from 1B to 1GiB", b.Size.V)
		case n < 1 || n > mostFlows || !c.Memory.has(b.Address.V, units.Size(n)*b.Size.V):
			return nil, FailIn([]any{b, f.PSN}, "receive: %d buffers of %v are not in the agent's memory (`memory:` says where that is)", n, b.Size.V)
		}
		p.Receive = agent.Buffers{Address: b.Address.V, Size: uint64(b.Size.V), Count: uint64(n)}
	}
	return p, nil
}

// checkPair checks what does not depend on what is done.
func (f *Flow) checkPair(c *Agent, payload int) error {
	const bits24 = 1<<24 - 1
	psn, messages := f.PSN, f.Messages.Or(1)
	switch {
	case psn.V < 0 || psn.V > bits24:
		return fail(psn, "psn %d: there are 0 to %d", psn.V, bits24)
	case f.PeerPSN.V < 0 || f.PeerPSN.V > bits24:
		return fail(f.PeerPSN, "peer_psn %d: there are 0 to %d", f.PeerPSN.V, bits24)
	case !f.QP.IsSet():
		return fail(psn, "psn: the peer has told the number of its queue pair (write it like `qp: 17`)")
	case f.QP.V == 0:
		return fail(f.QP, "queue pair 0: there are 1 to %d", bits24)
	case f.LocalQP.IsSet() && (f.LocalQP.V < 1 || f.LocalQP.V > bits24):
		return fail(f.LocalQP, "local_qp %d: there are 1 to %d", f.LocalQP.V, bits24)
	case f.Count.Or(1) != 1:
		return fail(f.Count, "count: with a psn a flow is one queue pair's; its messages are counted by `messages: N`")
	case messages < 0 || messages > mostMessages:
		return fail(f.Messages, "messages %d: from 0 (the agent only answers) to %d", messages, mostMessages)
	case !slices.Contains([]int{256, 512, 1024, 2048, 4096}, payload):
		return fail(psn, "psn: InfiniBand's packets have 256, 512, 1024, 2048 or 4096 bytes, not %d (write it like `payload: 1024B`)", payload)
	case messages > 0 && !f.Size.IsSet():
		return fail(psn, "psn: a message has a size (write it like `size: 64KiB`)")
	case messages == 0 && (f.Size.IsSet() || f.Write != nil || f.Read != nil):
		return fail(f.Messages, "messages: 0: the agent only answers, it has no size to send, and nothing to write or to read")
	case f.Size.V >= agent.MostMessage:
		return fail(f.Size, "size %v: a message has less than 2GiB", f.Size.V)
	case f.Size.V > agent.MostPackets*units.Size(payload):
		return fail(f.Size, "size %v: a message has at most %d packets, which is %v of %d B",
			f.Size.V, agent.MostPackets, agent.MostPackets*units.Size(payload), payload)
	case f.Write != nil && f.Read != nil:
		return FailIn([]any{f.Read, f.PSN}, "read: the flow has a write, and does one of them")
	case c.Recovery.V == "selective":
		return fail(psn, "psn: such queue pairs have go-back-N (recovery: go_back_n)")
	case c.Scheme.Name.V != "none":
		return fail(psn, "psn: such queue pairs know no scheme (scheme: {name: none}); a NIC of photon before them does (role: nic)")
	}
	return nil
}

// build is where messages go, or come from, and where in the agent's memory what is read is put.
func (r *Remote) build(verb string, psn Value[int], c *Agent, p *agent.Pair) (remote, into agent.Region, err error) {
	all := units.Size(p.Messages) * p.Size
	size := r.Size.Or(all)
	switch {
	case !r.Address.IsSet() || !r.RKey.IsSet() || r.RKey.V >= 1<<32:
		return remote, into, FailIn([]any{r.RKey, r, psn}, "%s: the peer has told an address, and an rkey of 32 bits "+
			"(`%s: {address: 0x7f0000000000, rkey: 0x1234}`)", verb, verb)
	case size < p.Size:
		return remote, into, FailIn([]any{r.Size, r}, "%s: size %v: a message of %v does not fit", verb, size, p.Size)
	case r.Address.V+uint64(size) < r.Address.V:
		return remote, into, fail(r.Address, "%s: it ends beyond the last address of 64 bits", verb)
	case !r.Into.IsSet():
	case p.Verb != agent.Read:
		return remote, into, fail(r.Into, "into: that is of a read")
	case !c.Memory.has(r.Into.V, size):
		return remote, into, fail(r.Into, "into: %v from there on are not in the agent's memory (`memory:` says where that is)", size)
	default:
		into = agent.Region{Address: r.Into.V, Size: uint64(size)}
	}
	return agent.Region{Address: r.Address.V, Size: uint64(size), Key: uint32(r.RKey.V)}, into, nil
}
