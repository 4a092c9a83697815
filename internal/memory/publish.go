//go:build !amd64 || race

package memory

import "sync/atomic"

// Publish stores v into x, so that who loads it sees all that was stored before.
func Publish(x *atomic.Uint64, v uint64) { x.Store(v) }
