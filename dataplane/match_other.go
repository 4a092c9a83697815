//go:build !amd64

package dataplane

import "photon/fabric"

// known finds the actions of frames, or of those before the first whose action the cache does not know, and counts
// these.
// It leaves the key of that one in m.
func (s *Switch) known(p *switchPort, m *match, frames []fabric.Frame, acts []action) int {
	return s.knownOneByOne(p, m, frames, acts)
}
