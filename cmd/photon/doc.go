// Command photon is a lossless-Ethernet switch and NIC dataplane on DPDK, and
// the laboratory that goes with it.
//
// The files, in the order in which a command line passes them; most are a command each:
//
//	main.go                                the root command, its groups, and exit codes
//	output.go                              an answer that cannot be written is a failure
//	help.go, suggest.go, complete.go       help; suggestions for what is misspelt; what a shell completes
//	log.go                                 --verbose and --log-format
//
//	replay.go                              `photon replay`
//	progress.go, page.go                   how far it is, in the terminal and on a page
//	overwrite.go                           nothing is written over what is read
//	report.go                              `photon report`
//	run.go                                 `photon run`: an experiment, or files of others
//	hpcc.go, traces.go, run_capture.go     its flags for files of others, and for frames of virtual time
//	sweep.go                               `photon sweep`
//	list.go, lists.go                      `photon list`, and what it lists
//	explain.go, check.go                   `photon explain` and `photon check`
//	accept.go                              `photon accept`
//
//	switch.go, agent.go                    `photon switch` and `photon agent`
//	show.go, top.go, capture.go, clear.go  they look at a running one: `photon show`, `top`, `capture`, `clear`
//	reload.go, port.go, flow.go            they change it
//	proxy.go                               joins standard input and output to an admin socket, for testbeds
//
//	version.go, man.go                     `photon version`, and the manual pages
package main
