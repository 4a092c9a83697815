package cnp_test

import (
	"fmt"

	"photon/cnp"
	"photon/units"
	"photon/wire"
)

// The notification point of DCQCN: a marked frame makes a CNP, but no more than
// one in 50 us.
func ExampleDCQCN() {
	np := cnp.NewDCQCN(cnp.DCQCNParams{Interval: 50 * units.Microsecond}, 1)
	for now := units.Time(0); now < 120*units.Microsecond; now += 10 * units.Microsecond {
		np.Data(now, 0, wire.CE, 1082)
		if _, _, ok := np.Poll(now); ok {
			fmt.Println("CNP at", now)
		}
	}
	// Output:
	// CNP at 0ps
	// CNP at 50us
	// CNP at 100us
}
