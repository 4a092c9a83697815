package docs

import (
	"os/exec"
	"strings"
	"testing"
)

// TestReleaseIsRefused: a release without a version that its change log knows is one line, and nothing is built.
func TestReleaseIsRefused(t *testing.T) {
	for version, want := range map[string]string{
		"":        `release: VERSION="": numbers with dots, as in make release VERSION=1.0.0`,
		"one":     `release: VERSION="one": numbers with dots, as in make release VERSION=1.0.0`,
		"1.0/../": `release: VERSION="1.0/../": numbers with dots, as in make release VERSION=1.0.0`,
	} {
		c := exec.Command("../../scripts/release.sh")
		c.Env = append(c.Environ(), "VERSION="+version)
		out, err := c.CombinedOutput()
		if c.ProcessState.ExitCode() != 2 || strings.TrimSpace(string(out)) != want {
			t.Errorf("%q: %v, %s", version, err, out)
		}
	}
}
