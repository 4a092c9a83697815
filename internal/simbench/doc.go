// Command simbench measures how fast the simulator is: three fixed cases, and how
// the cost of a packet grows with the network. `make bench-sim` runs it;
// docs/performance/simulator.md says what it found and what was tried.
//
// A packet-hop is one data packet over one link; acknowledgements, notifications
// and PAUSE frames are work that is not counted. Every case runs twice: with an
// acknowledgement for each flow, and with one for each packet, as other simulators
// of this field have it.
//
// Each run is a process of its own, so that its memory is its own, and all runs take
// turns: a turn is every case once, and every other turn goes backwards. Rates are per
// second of processor time, which other work on the machine changes least, from the moment
// the clock of the built network starts; building it is reported beside it. What the table
// shows is the median of the turns. Where there are two processors each case also runs on
// both, and the table has how many times as fast that is by the wall, which other work on
// the machine changes most.
//
// Ratios are taken of each turn for itself, since the speed of a machine that is shared
// changes from one second to the next, and the two runs are beside each other. Where
// processor time is compared, of the largest network by the smallest and of ns-3's case by
// the bare loop, the two runs alternate many times a second, and the one whose turn it is
// not stands still (together.go). The table has the median of such ratios, and beneath it
// are lines with their quartiles, the least and the most, and in how many turns the goal
// was met.
//
// In every turn a loop of bare events runs beside the cases (machine.go): two for each
// packet-hop, on a 4-ary heap, and nothing else. It says how fast the machine is at this
// moment, not what a simulator could be: one can be faster, by a better queue, and one that does
// something with its packets is slower. The ratio to ns-3 is printed as measured, and
// scaled: divided by how much faster this machine runs the loop than that on which
// ns-3 was measured. Beside it is the same on two cores, by the wall: ns-3, which has one
// thread, took seconds that are compared with ours.
//
// The files, in the order in which a measurement passes them:
//
//	main.go                 flags and the result
//	cases.go, foreign.go    networks of our own, and files of others
//	photon.go, ns3.go       commands that are measured whole, and ns-3 beside them
//	turns.go, together.go   runs take turns, each as a process; two of them many times a second
//	measure.go, machine.go  one run; the loop of bare events
//	ratio.go                two of them compared
//	result.go, table.go     the result file; what is printed
package main
