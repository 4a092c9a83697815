package config

import (
	"errors"

	"photon/telemetry/page/address"
)

// Live is the page for browsers; there is none unless it is asked for.
type Live struct {
	Listen Value[string] `yaml:"listen"` // address, as in 127.0.0.1:9471; none
	Remote Value[bool]   `yaml:"remote"` // the address need not be loopback; all who reach it can look; false
}

func (l Live) check() error {
	switch {
	case !l.Listen.IsSet():
		if l.Remote.IsSet() {
			return fail(l.Remote, "live: remote says who may look, and nothing listens (listen: 127.0.0.1:9471)")
		}
		return nil
	case l.Listen.V == "off":
		return nil
	}
	err := address.Check(l.Listen.V, l.Remote.V)
	if errors.Is(err, address.ErrOpen) {
		return fail(l.Listen, "live: %v (`remote: true` beside it allows that)", err)
	}
	if err != nil {
		return fail(l.Listen, "live: %v", err)
	}
	return nil
}

// Address is where the page is served; empty: nowhere.
func (l Live) Address() string {
	if l.Listen.V == "off" {
		return ""
	}
	return l.Listen.V
}
