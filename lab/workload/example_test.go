package workload_test

import (
	"fmt"

	"photon/lab/workload"
	"photon/units"
)

// Web search flows at half the load of four links of 10 Gbit/s, from four hosts to
// a fifth: the same for the same seed.
func ExamplePoisson() {
	sizes, err := workload.Named("websearch")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := workload.Poisson{Sizes: sizes, Load: 0.5, Rate: 40 * units.Gbps, From: []int{0, 1, 2, 3}, To: []int{4}, Flows: 1000}
	list, err := p.Generate(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := units.Size(0)
	for _, a := range list {
		sum += a.Size
	}
	load := 8 * float64(sum) / list[len(list)-1].At.Seconds() / 40e9
	fmt.Printf("%d flows, the load is about %.1f; half of all are shorter than %v\n", len(list), load, sizes.Quantile(0.5))
	// Output:
	// 1000 flows, the load is about 0.5; half of all are shorter than 73.077KB
}
