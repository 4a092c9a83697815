// Package config reads what an operator writes: switch.yaml, agent.yaml and the
// flags that stand for them. It is a package of its own because nodes know
// nothing of files, commands know only flags, and the laboratory's experiments
// use the same reader.
//
// Every error is one line: which file, which line, what is wrong, and how to
// correct it. Unknown keys are errors.
//
// The files, in the order in which a file of the operator passes them:
//
//	yaml.go, locate.go                        values with their lines, and errors; which line a key stands on
//	meantkey.go                             the key that was meant by one that does not exist
//	common.go                                 what switch.yaml and agent.yaml share: ports, scheme, PFC, DPDK
//	listen.go, live.go                        addresses of metrics, profiles and the live page
//
//	switch.go                                 switch.yaml, and the switch that is made of it
//	ports.go, link.go, length.go              what a port has of its own; headroom of its link; lengths of cables
//	buffer.go                                 frame buffers, and what fits into them
//	queues.go, shaper.go, ingress.go          egress queues and WRED; shapers; limits of lossy frames of a port
//	forwarding.go, neighbour.go               VLANs and routes; addresses of the router
//	lldp.go, sflow.go, history.go, impair.go  LLDP, samples, what is remembered, damage on purpose
//	changes.go, places.go                     what a changed file changes in a running switch; where its ports are
//
//	agent.go                                  agent.yaml, and the host that is made of it
//	agent_others.go                         what in it only a switch or a NIC has
//	shares.go                                 what flows are entitled to under a switch's scheme
//	gateway.go, pair.go                       its router; its flows to queue pairs of others
//	agent_length.go                           how long its frames are
//	nic.go                                    the same file with `role: nic`
package config
