package sweep_test

import (
	"fmt"

	"photon/lab/sweep"
)

// A spec becomes tasks, and a worker does its share of them.
func Example() {
	s, err := sweep.Read("../../docs/examples/incast-sweep.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	tasks, err := s.Tasks()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(tasks), "tasks, of which the first of ten workers does", len(sweep.Shard(tasks, 0, 10)))
	fmt.Println("the first is", tasks[0])
	// Output:
	// 64 tasks, of which the first of ten workers does 7
	// the first is incast.yaml pcn flows.incast.size=200KB parameters.xoff=256KB schemes.pcn.wmin=1/128
}
