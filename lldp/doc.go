// Package lldp is what neighbours tell each other of themselves: LLDP frames (IEEE 802.1AB) with the DCBX TLVs of
// IEEE 802.1Qaz, which say how a port schedules (ETS), which priorities it pauses (PFC), and which applications
// have which priority. It reads and writes the bytes, keeps which neighbour is at which port, and finds where two ends of
// a cable disagree. It knows neither sockets nor clocks: nodes carry the frames, and the owner of a Table passes
// the time.
//
// It is a package of its own because it complements pfc: two ends of a link that disagree about PFC lose frames, or
// pause each other in vain, and no counter says why.
//
// Left out: organizationally specific TLVs but DCBX's (they are skipped), management addresses, the older DCBX
// versions of before 802.1Qaz (CIN and CEE, which have other TLVs), and the taking over of a peer's parameters:
// photon is never willing.
//
// The files, in the order in which they build on each other:
//
//	frame.go, dcbx.go  LLDP frames; DCBX in them
//	table.go           which neighbour is at which port
//	agree.go           where two ends disagree
package lldp
