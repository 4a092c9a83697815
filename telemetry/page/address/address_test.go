package address

import "testing"

func TestCheck(t *testing.T) {
	for at, want := range map[string]string{
		"127.0.0.1:9470": "", "127.9.8.7:0": "", "[::1]:9470": "", "localhost:9470": "",
		"0.0.0.0:9470": "0.0.0.0:9470 is not a loopback address: whoever reaches it could look", ":9470": ":9470 is not a loopback address: whoever reaches it could look",
		"10.0.0.5:9470": "10.0.0.5:9470 is not a loopback address: whoever reaches it could look", "[::]:1": "[::]:1 is not a loopback address: whoever reaches it could look",
		"host.example:1": "host.example:1 is not a loopback address: whoever reaches it could look",
		"9470":           `"9470" is not an address (write it like 127.0.0.1:9470; port 0 takes any that is free)`, "": `"" is not an address (write it like 127.0.0.1:9470; port 0 takes any that is free)`,
	} {
		if err := Check(at, false); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v", at, err)
		}
	}
	for _, at := range []string{"0.0.0.0:9470", ":9470", "10.0.0.5:1"} {
		if err := Check(at, true); err != nil {
			t.Errorf("%q, told plainly: %v", at, err)
		}
	}
	if Check("9470", true) == nil {
		t.Error("no address is an address if others may look")
	}
}
