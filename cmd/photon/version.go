package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"photon/dataplane/dpdk"
)

// version is set by the linker for releases.
var version = "dev"

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
	if commit := revision(); len(commit) >= 12 {
		from = " (" + commit[:12] + ")"
	}
	return fmt.Sprintf("%s%s, %s, DPDK: %s", version, from, runtime.Version(), dpdk.Version())
}

// revision is the commit this was built from, if the build knew it, with "+" behind it if the
// tree was changed since.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	return commit + changed
}
