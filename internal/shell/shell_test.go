package shell

import (
	"os/exec"
	"testing"
)

// A shell gives back what it is given, and what is plain stays so.
func TestWord(t *testing.T) {
	for _, text := range []string{
		"mine.yaml", "docs/my file.yaml", "it's.yaml", `a"b`, "$HOME", "`id`", "a;b", "a&b", "*", "~",
		"<u>lab</u>", "", "ünï", "#x", "a\nb",
		"dcqcn+", "pcn,hpcc", "a=b", `back\slash`, "x!y", "{a,b}", "a b  c",
	} {
		got, err := exec.Command("sh", "-c", "printf %s "+Word(text)).Output()
		if err != nil || string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, plain := range []string{"mine.yaml", "out/a-b_c", "dcqcn+", "pcn,hpcc", "pcn/fig11"} {
		if got := Word(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
	if got, want := Words("a b", "c"), "'a b' c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
