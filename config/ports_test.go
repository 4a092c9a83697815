package config

import "testing"

// What a port says of itself by LLDP is what it has of its own.
func TestPortsSayTheirOwn(t *testing.T) {
	c := parse(t, "ports:\n- {device: net_null0, lossless: [4], dscp_to_priority: {9: 4}}\n- {device: net_null1}\n- {device: net_null2, lossless: [], pause: true}\nlldp: {}\n")
	a := c.Announced()
	if a == nil || len(a.DCBX) != 3 {
		t.Fatalf("%+v", a)
	}
	for i, want := range []uint8{1 << 4, 1 << 3, 0} {
		if got := a.DCBX[i].PFC.Priority; got != want {
			t.Errorf("port %d says that %08b have PFC, and not %08b", i, got, want)
		}
	}
	found := false
	for _, app := range a.DCBX[0].Apps {
		found = found || app.Protocol == 9 && app.Priority == 4
	}
	if !found || len(a.DCBX[2].Apps) != 0 {
		t.Errorf("%+v, %+v", a.DCBX[0].Apps, a.DCBX[2].Apps)
	}
}
