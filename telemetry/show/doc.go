// Package show has the documents of `photon show`, one file each: JSON on the way, and
// the table that switches have made usual.
//
// The files, in the order in which they build on each other:
//
//	topics.go, table.go                           the topics; how their tables look
//	ports.go, queues.go, scheduler.go, buffer.go  ports and what waits at them
//	pfc.go, pfcwd.go, history.go, deadlocks.go    flow control
//	losses.go, marking.go, impair.go              what was lost, marked, damaged on purpose
//	fdb.go, vlan.go, routes.go, neighbours.go     forwarding
//	lldp.go, sflow.go                             neighbours and samples
//	flows.go, flow_list.go                        flows of an agent
package show
