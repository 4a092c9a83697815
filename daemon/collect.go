package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"photon/units"
)

// The garbage collector takes a worker off its core for milliseconds, longer
// than headroom lasts. A worker makes no garbage; scrapes and commands make
// some, a fraction of a megabyte each. So nothing is collected until there is
// much of it, and then the peers are paused first: frames wait at the peers
// meanwhile, and not in a receive ring that would overflow.

// drainDelay is the time after an XOFF until the last frame has arrived.
const drainDelay = 2 * time.Millisecond

// collector runs the garbage collector while the peers are paused.
type collector struct {
	used  []metrics.Sample // nil: Go's own way, which GOGC in the environment asks for
	at    uint64           // bytes in use at which to collect
	grows uint64           // bytes that may become garbage in between
}

// start turns the runtime's collector off.
func (c *collector) start(garbage units.Size) {
	if os.Getenv("GOGC") != "" {
		return
	}
	c.used = []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	runtime.GC() // what reading the configuration left
	metrics.Read(c.used)
	c.grows = uint64(garbage)
	c.at = c.used[0].Value.Uint64() + c.grows
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(int64(4*c.at + 1<<30)) // in case memory grows faster than the checks
}

// enabled reports whether garbage is collected by collect, and not by the runtime.
func (c *collector) enabled() bool { return c.used != nil }

// collect collects garbage if there is much.
func (d *daemon) collect() {
	c := &d.collector
	if !c.enabled() {
		return
	}
	if metrics.Read(c.used); c.used[0].Value.Uint64() < c.at {
		return
	}
	before := c.used[0].Value.Uint64()
	if d.sw != nil {
		d.loaded.Lock() // no reload and no shutdown meanwhile
		defer d.loaded.Unlock()
		if d.loaded.ending {
			return // the switch drains: its peers stay paused
		}
		d.world.DoBriefly(d.sw.StopPeers)
		defer d.world.DoBriefly(d.sw.ResumePeers)
		time.Sleep(drainDelay)
	}
	start := time.Now()
	d.world.AllowStops(runtime.GC)
	took := time.Since(start)
	metrics.Read(c.used)
	after := c.used[0].Value.Uint64()
	c.at = after + c.grows
	how := ""
	if d.sw != nil {
		how = ", the peers paused"
	}
	d.log.Infof("collected %v of garbage in %v%s", units.Size(before-after), took.Round(time.Microsecond), how)
}
