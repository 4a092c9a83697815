//go:build !dpdk

package dpdk

// Available tells whether this build has DPDK.
const Available = false

// Version is DPDK's.
func Version() string { return "none" }

// New returns ErrNotBuilt.
func New(Options) (World, error) { return nil, ErrNotBuilt }

// MostLinks is how many links between nodes of a process there can be.
func MostLinks() int { return 0 }
