// Package cnp is the notification point (NP): what a receiver does with the
// marks that switches left on the frames of a flow, and the congestion
// notification packet (CNP) that it sends to the sender.
//
// An NP counts per flow, in slots that the host's flow table hands out, and
// emits Notices; the host encodes them. Nothing allocates after construction.
package cnp
