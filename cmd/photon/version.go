package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"photon/dataplane/dpdk"
)

// The linker sets them: version for releases, and commit for builds in a tree of which Go does not see what it is, as one of
// `git worktree`.
var (
	version = "dev"
	commit  string
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of photon, Go and DPDK",
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprintln(c.OutOrStdout(), "photon", versions())
			return nil
		},
	}
}

// versions are photon's, with its commit, Go's and DPDK's.
func versions() string {
	from := ""
	if r := revision(); len(r) >= 12 {
		from = " (" + r[:12] + ")"
	}
	return fmt.Sprintf("%s%s, %s, DPDK: %s", version, from, runtime.Version(), strings.TrimPrefix(dpdk.Version(), "DPDK "))
}

// revision is the commit this was built from, if the build knew it, with "+" behind it if the
// tree was changed since.
func revision() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	stamped, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			stamped = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	return stamped + changed
}
