package daemon

import (
	"photon/config"
	"photon/impair"
	"photon/units"
)

// prepareImpair works out what other rules of a file make of the ports, and returns the function that has them take
// effect while the workers rest. A switch without impairments until then has no impair.Node before it, and gets one.
func (d *daemon) prepareImpair(conf *config.Switch) (set func(now units.Time)) {
	specs, n := conf.Impaired(), d.impaired
	if n == nil && specs == nil {
		return func(units.Time) {}
	}
	if n == nil {
		n = impair.New(d.sw, d.envs, d.workers, nil, d.sw.Priority)
	}
	change := n.Prepare(specs)
	return func(now units.Time) {
		if d.impaired == nil {
			d.impaired, d.node = n, n
			d.world.Replace(d.id, n)
		}
		n.Set(now, d.world.Laps(), change)
	}
}
