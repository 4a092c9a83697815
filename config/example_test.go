package config_test

import (
	"fmt"

	"photon/config"
)

// An error says in which file and line something is wrong, and how to mend it.
func ExampleDecode() {
	var s config.Switch
	err := config.Decode("switch.yaml", []byte("ports:\n  - {device: net_null0, rate: 10Gbps}\npfc: {xof: 512KB}\n"), &s)
	fmt.Println(err)
	// Output:
	// switch.yaml:3: unknown key "xof": is "xoff" meant?
}
