package topology

import (
	"photon/fabric"
)

// RailSize is the size of a cluster whose hosts have several NICs.
type RailSize struct {
	Pods   int
	Hosts  int // per pod
	NICs   int // of a host, and switches of a pod
	Spines int
}

// Rails is pods of hosts H0.. with several NICs: the k-th NICs of a pod's hosts are on its k-th switch, their rail.
// Switches are T0.., pod by pod; each has a link to every spine C0... Hosts of a pod reach each other over one switch,
// as long as they stay on their rail.
func Rails(r RailSize, host, trunk fabric.Link) *Plan {
	p := New()
	spines := make([]int, r.Spines)
	for i := range spines {
		spines[i] = p.Switch("spine", "C%d", i)
	}
	for pod := range r.Pods {
		rails := make([]int, r.NICs)
		for k := range rails {
			rails[k] = p.Switch("tor", "T%d", pod*r.NICs+k)
			for _, s := range spines {
				p.Connect(rails[k], s, trunk)
			}
		}
		for i := range r.Hosts {
			h := p.Host("H%d", pod*r.Hosts+i)
			for _, rail := range rails {
				p.Connect(h, rail, host)
			}
		}
	}
	return p
}

// PlaneSize is the size of a network of several planes.
type PlaneSize struct {
	NICs   int // of a host, and planes
	ToRs   int // of a plane
	Hosts  int // per ToR
	Spines int // of a plane
}

// Planes is several leaf-spine networks that share only the hosts: the k-th NIC of each host H0.. is
// in the k-th plane. ToRs are T0.. and spines C0.., plane by plane.
func Planes(s PlaneSize, host, trunk fabric.Link) *Plan {
	p := New()
	tors := make([][]int, s.NICs)
	for plane := range tors {
		spines := make([]int, s.Spines)
		for i := range spines {
			spines[i] = p.Switch("spine", "C%d", plane*s.Spines+i)
		}
		for t := range s.ToRs {
			tor := p.Switch("tor", "T%d", plane*s.ToRs+t)
			tors[plane] = append(tors[plane], tor)
			for _, spine := range spines {
				p.Connect(tor, spine, trunk)
			}
		}
	}
	for i := range s.ToRs * s.Hosts {
		h := p.Host("H%d", i)
		for plane := range tors {
			p.Connect(h, tors[plane][i/s.Hosts], host)
		}
	}
	return p
}
