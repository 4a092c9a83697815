//go:build amd64 && !race

package memory

import "sync/atomic"

// Publish stores v into x, so that who loads it sees all that was stored before. Other than x.Store it does not wait
// until that is so.
//
//go:noescape
func Publish(x *atomic.Uint64, v uint64)
