package hpccfiles_test

import (
	"fmt"

	"photon/lab/hpccfiles"
)

// What a simulator wrote about its flows, in one line of numbers.
func ExampleSummarise() {
	list, err := hpccfiles.ReadFCT("fct.txt", []byte(""+
		"0b000001 0b000101 10000 100 1000 2000000000 2500 2500\n"+
		"0b000201 0b000101 10000 100 64000 2000000100 24000 8000\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := hpccfiles.Summarise(list)
	fmt.Printf("%d flows, slowdowns: %.1f on average, %.1f at most\n", s.Flows, s.Avg, s.P99)
	// Output:
	// 2 flows, slowdowns: 2.0 on average, 3.0 at most
}
