// Package units holds the three quantities that everything in photon is
// measured in: Time (picoseconds), Rate (bits per second) and Size (bytes).
//
// They are int64, so that a simulation is the same on every machine: no
// floating point decides the order of two events. Picoseconds make the
// serialisation time of a byte exact at every Ethernet rate (80 ps at
// 100 Gbit/s) and still span 106 days.
//
// Values are written as people write them: 10Gbps, 512KB, 50us. Prefixes of
// rates and sizes are decimal (KB = 1000 bytes, the convention of the papers
// this project repeats); KiB, MiB and GiB are the binary ones.
//
// The files, in the order in which they build on each other:
//
//	time.go, rate.go, size.go  the quantities
//	parse.go, number.go        they are read
//	rebase.go                  clocks that are set back
package units
