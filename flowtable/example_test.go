package flowtable_test

import (
	"fmt"

	"photon/flowtable"
	"photon/units"
)

// What a node knows of a flow is in an array of its own, at the flow's slot.
func Example() {
	table := flowtable.New(2, func(key string) uint64 { return uint64(len(key)) })
	packets := make([]int, table.Cap())
	for i, flow := range []string{"long", "short", "long"} {
		slot, fresh := table.Insert(flow, units.Time(i)*units.Second)
		if fresh {
			packets[slot] = 0
		}
		packets[slot]++
	}
	fmt.Println(table.Len(), packets[table.Lookup("long")], table.Lookup("other") == flowtable.None)

	if slot := table.Expire(2*units.Second, 10); slot != flowtable.None { // silent since before then
		fmt.Println("room for another instead of", table.Key(slot))
		table.Delete(slot)
	}
	fmt.Println(table.Len())
	// Output:
	// 2 2 true
	// room for another instead of short
	// 1
}
