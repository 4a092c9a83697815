package suggest

import "testing"

func TestName(t *testing.T) {
	schemes := []string{"dcqcn", "dcqcn+", "hpcc", "pcn", "qcn", "timely"}
	for word, want := range map[string]string{
		"pnc":    "pcn",    // two neighbours swapped
		"PCN":    "pcn",    // another case
		"dcqnc":  "dcqcn",  // swapped again
		"timley": "timely", // in a longer word
		"hpc":    "hpcc",
		"tmely":  "timely",
		"pcn":    "qcn", // what is written is not meant
		"warp":   "",
		"":       "",
		"bbr":    "",
	} {
		if got := Closest(word, schemes); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Or("warp", schemes, "there are none"); got != "there are none" {
		t.Error(got)
	}
	if got := Or("pnc", schemes, "there are none"); got != `is "pcn" meant?` {
		t.Error(got)
	}
}
