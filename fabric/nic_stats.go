package fabric

import "photon/units"

// NICStats are what a host counts that carries the frames of applications.
type NICStats struct {
	Flows                   int                 // sent, as of now
	Received                int                 // flows received that the notification point knows, as of now
	Queued                  int                 // frames of applications that wait for the wire, as of now
	Control                 uint64              // frames of applications that passed unpaced: not IP, group addresses, neighbour discovery
	ECT                     uint64              // frames of applications whose ECN codepoint was changed on their way out
	Cleared                 uint64              // frames whose mark was taken off on their way to the application
	Untracked               uint64              // marked or markable frames received that the notification point had no room for
	EchoesSent, EchoesTaken uint64              // acknowledgements of every frame, for schemes that need them: sent and received
	Released                uint64              // flows set back to line rate because notifications stayed away
	Refused                 [CNPRefusals]uint64 // CNPs and CNMs that changed nothing, among RPIgnored
	Holds                   uint64              // times no more was taken from the application's port
	Held                    units.Time          // for how long, in all
}

// CNPRefusal says why a notification changed nothing.
type CNPRefusal uint8

// Refusals.
const (
	CNPUnknown   CNPRefusal = iota // there is no such flow
	CNPNotSent                     // nothing of the flow has left yet
	CNPTooSoon                     // the flow was notified less than a period ago
	CNPMalformed                   // too short, or its CRC is wrong
	CNPRefusals                    // how many there are
)

var refusalNames = [CNPRefusals]string{"unknown_flow", "not_sent", "too_soon", "malformed"}

func (r CNPRefusal) String() string { return refusalNames[r] }
