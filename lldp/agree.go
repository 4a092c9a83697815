package lldp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Feature is what two ends of a cable may disagree about.
type Feature uint8

// Features.
const (
	FeaturePFC Feature = iota
	FeatureETS
	FeatureApps
	Features // how many there are
)

var featureNames = [Features]string{"pfc", "ets", "applications"}

func (f Feature) String() string { return featureNames[f] }

// Mismatch is one thing about which a port and its peer disagree.
type Mismatch struct {
	Feature Feature
	Text    string // in a sentence, with both sides
}

// Compare says where a port and its peer disagree. What one of them says nothing of they do not disagree about. A peer
// that is willing is compared, too: what it sends is what it has in force, so it disagrees until it has taken over.
func Compare(own, peer *DCBX) (all []Mismatch) {
	if own.PFC != nil && peer.PFC != nil && own.PFC.Priority != peer.PFC.Priority {
		all = append(all, Mismatch{FeaturePFC, fmt.Sprintf("PFC is on for %s here, and for %s at the peer%s",
			priorities(own.PFC.Priority), priorities(peer.PFC.Priority), unwilling(peer.PFC.Willing))})
	}
	if own.ETS != nil && peer.ETS != nil {
		if what := own.ETS.differs(peer.ETS); what != "" {
			all = append(all, Mismatch{FeatureETS, what + unwilling(peer.ETS.Willing)})
		}
	}
	if own.HasApps && peer.HasApps {
		if what := differentApps(own.Apps, peer.Apps); what != "" {
			all = append(all, Mismatch{FeatureApps, what})
		}
	}
	return all
}

func unwilling(willing bool) string {
	if willing {
		return ", which is willing and has not taken over"
	}
	return ", which is not willing"
}

// priorities lists a set.
func priorities(set uint8) string {
	var list []string
	for p := range 8 {
		if set>>p&1 != 0 {
			list = append(list, strconv.Itoa(p))
		}
	}
	if list == nil {
		return "no priority"
	}
	return "priorities " + strings.Join(list, " ")
}

// differs says in what two disagree. Numbers of classes mean nothing beyond the port: what counts is how each priority
// is served, and the share of those that share.
func (e *ETS) differs(peer *ETS) string {
	for p := range 8 {
		a, b := e.Class[p]&7, peer.Class[p]&7
		switch own, other := e.Algorithm[a], peer.Algorithm[b]; {
		case own != other:
			return fmt.Sprintf("priority %d is served by %s here, and by %s at the peer", p, algorithm(own), algorithm(other))
		case own == Shares && e.Bandwidth[a] != peer.Bandwidth[b]:
			return fmt.Sprintf("priority %d has %d %% of the link here, and %d %% at the peer", p, e.Bandwidth[a], peer.Bandwidth[b])
		}
	}
	return ""
}

func algorithm(a uint8) string {
	switch a {
	case Strict:
		return "strict priority"
	case Credit:
		return "a credit-based shaper"
	case Shares:
		return "share"
	}
	return fmt.Sprintf("algorithm %d", a)
}

// differentApps names the first application that has another priority at the peer.
func differentApps(own, peer []App) string {
	for _, a := range sortApps(own) {
		for _, b := range peer {
			if a.covers(own, b, peer) && a.Priority != b.Priority {
				return fmt.Sprintf("%s has priority %d here, and %d at the peer", a.name(), a.Priority, b.Priority)
			}
		}
	}
	return ""
}

// covers reports whether two entries of two ends are about the same application. One may say a port of TCP or UDP, and
// the other a port of either: that is the same, unless one of the ends has an entry of its own for it.
func (a App) covers(own []App, b App, peer []App) bool {
	switch {
	case a.Protocol != b.Protocol:
		return false
	case a.Selector == b.Selector:
		return true
	case a.ofOne() && b.Selector == ByPort:
		return !has(peer, a)
	case a.Selector == ByPort && b.ofOne():
		return !has(own, b)
	}
	return false
}

// ofOne reports whether an entry is about a port of one transport protocol.
func (a App) ofOne() bool { return a.Selector == ByTCP || a.Selector == ByUDP }

// has reports whether there is an entry about just what another is about.
func has(apps []App, what App) bool {
	return slices.ContainsFunc(apps, func(a App) bool {
		return a.Selector == what.Selector && a.Protocol == what.Protocol
	})
}

// name is what an entry is about.
func (a App) name() string {
	switch a.Selector {
	case ByEtherType:
		if a.Protocol == 0 {
			return "what is nothing else"
		}
		return fmt.Sprintf("EtherType 0x%04x", a.Protocol)
	case ByTCP:
		return fmt.Sprintf("TCP port %d", a.Protocol)
	case ByUDP:
		return fmt.Sprintf("UDP port %d", a.Protocol)
	case ByPort:
		return fmt.Sprintf("port %d", a.Protocol)
	case ByDSCP:
		return fmt.Sprintf("DSCP %d", a.Protocol)
	}
	return fmt.Sprintf("selector %d, protocol %d", a.Selector, a.Protocol)
}

func (a App) String() string { return fmt.Sprintf("%s: %d", a.name(), a.Priority) }
