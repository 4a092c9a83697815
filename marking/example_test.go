package marking_test

import (
	"fmt"

	"photon/marking"
	"photon/units"
)

// DCQCN's congestion point goes by the queue that a frame leaves behind.
func ExampleRED() {
	cp := marking.NewRED(marking.REDParams{Kmin: 5 * units.KB, Kmax: 200 * units.KB, Pmax: 0.01}, 1)
	for _, queue := range []units.Size{5 * units.KB, 150 * units.KB, 201 * units.KB} {
		marked := 0
		for range 10000 {
			if cp.Dequeue(0, marking.Queue{Bytes: queue}, &marking.Packet{Size: 1058}) == marking.Congestion {
				marked++
			}
		}
		fmt.Printf("%v: %.1f %%\n", queue, float64(marked)/100)
	}
	// Output:
	// 5KB: 0.0 %
	// 150KB: 0.9 %
	// 201KB: 100.0 %
}

// PCN's does not mark what waited because of a pause: that is not this queue's doing.
func ExampleNPECN() {
	cp := marking.NewNPECN()
	waiting := marking.Queue{Bytes: 10 * 1058, Frames: 10}
	fmt.Println("congested:", cp.Dequeue(0, waiting, &marking.Packet{}) == marking.Congestion)
	cp.Resume(0, waiting) // the peer had paused the queue; ten frames wait because of it
	marked := 0
	for left := 9; left >= 0; left-- {
		if cp.Dequeue(0, marking.Queue{Bytes: units.Size(left) * 1058, Frames: left}, &marking.Packet{}) == marking.Congestion {
			marked++
		}
	}
	fmt.Println("marked of ten that had been paused:", marked)
	// Output:
	// congested: true
	// marked of ten that had been paused: 0
}
