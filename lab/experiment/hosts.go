package experiment

import (
	"slices"
	"strconv"
	"strings"

	"photon/config"
	"photon/lab/topology"
)

// hosts resolves names of hosts: one (H0), a range (H0..H7), several of these (H0,H4..H7) or all (*). Behind each may
// stand which NIC is meant (H0.1, H0..H7.1, *.1), or that all are (*.*, host by host): these are pinned.
func hosts(p *topology.Plan, v config.Value[string]) (list []int, err error) {
	for part := range strings.SplitSeq(v.V, ",") {
		part = strings.TrimSpace(part)
		names, nic := cutNIC(p, part)
		first, last, isRange := strings.Cut(names, "..")
		if !isRange {
			last = first
		}
		all := p.Hosts()
		begin, end := position(p, first), position(p, last)
		switch {
		case names == "*":
			begin, end = 0, len(all)-1
		case begin < 0 || end < 0:
			if begin >= 0 {
				first = last
			}
			return nil, at(v, "there is no host %q (%s)", first, hostNames(p))
		case begin > end:
			return nil, at(v, "hosts %s: the first comes after the last", part)
		}
		for _, h := range all[begin : end+1] {
			of := p.NICs(h)
			n, err := strconv.Atoi(nic)
			switch {
			case nic == "":
				list = append(list, h)
			case nic == "*":
				for _, node := range of {
					list = append(list, topology.Pinned(node))
				}
			case err != nil || n >= len(of):
				return nil, at(v, "host %s has no NIC %s: it has %d, from 0 on", p.Nodes[h].Name, nic, len(of))
			default:
				list = append(list, topology.Pinned(of[n]))
			}
		}
	}
	return list, nil
}

// meansMore reports whether a name would be read as something else where hosts and ports are named.
func meansMore(name string) bool {
	return strings.ContainsAny(name, ",>*") || strings.Contains(name, "..") || strings.TrimSpace(name) != name
}

// cutNIC cuts off which NIC is meant; a host's name may have dots of its own.
func cutNIC(p *topology.Plan, part string) (names, nic string) {
	i := strings.LastIndexByte(part, '.')
	if i <= 0 || part[i-1] == '.' || position(p, part) >= 0 {
		return part, ""
	}
	if _, last, isRange := strings.Cut(part, ".."); isRange && position(p, last) >= 0 {
		return part, ""
	}
	if nic = part[i+1:]; nic != "*" && strings.Trim(nic, "0123456789") != "" || nic == "" {
		return part, ""
	}
	return part[:i], nic
}

// position is a host's place among the hosts; -1: there is none of that name.
func position(p *topology.Plan, name string) int {
	node, ok := p.Find(name)
	if !ok {
		return -1
	}
	if i, found := slices.BinarySearch(p.Hosts(), node); found {
		return i
	}
	return -1
}

// NICs has the flows between two hosts take the hosts' NICs in turn.
type NICs struct {
	Plan  *topology.Plan
	flows map[[2]int]int // so far, between two hosts
}

// Next is from which NIC to which the next flow goes.
func (n *NICs) Next(from, to int) (a, b int) {
	if !n.Plan.Several() {
		return from, to
	}
	if n.flows == nil {
		n.flows = map[[2]int]int{}
	}
	pair := [2]int{from, to}
	nth := n.flows[pair]
	n.flows[pair]++
	return n.Plan.Pick(from, to, nth)
}

// startAtNICs has flows that wait for something wait at the NIC that sends them. Where another NIC of their host
// comes to know of it, that takes a signal's delay.
func startAtNICs(list []Flow) {
	type place struct {
		wait *Wait
		node int
	}
	known := map[place]*Wait{}
	for i := range list {
		f := &list[i]
		if f.Wait == nil || f.Wait.Host == f.From {
			continue
		}
		k := place{f.Wait, f.From}
		if known[k] == nil {
			known[k] = &Wait{Host: f.From, After: []Cause{{Wait: f.Wait}}}
		}
		f.Wait = known[k]
	}
}
