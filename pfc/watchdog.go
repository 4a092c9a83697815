package pfc

import (
	"fmt"

	"photon/units"
)

// Action is what a watchdog has done to the queue of a priority whose peer storms.
type Action uint8

// Actions, by SONiC's names. Its drop means Drop on some chips and DropBoth on others.
const (
	Drop     Action = iota // the queue's frames are discarded
	Forward                // the pause is ignored
	Alert                  // nothing; it is counted
	DropBoth               // the queue's frames are discarded, and those of the priority that the storming peer sends
)

var actionNames = [...]string{"drop", "forward", "alert", "drop_both"}

func (a Action) String() string { return actionNames[a] }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Action) UnmarshalText(b []byte) error {
	for i, name := range actionNames {
		if string(b) == name {
			*a = Action(i)
			return nil
		}
	}
	return fmt.Errorf("action %q: drop, drop_both, forward or alert", b)
}

// WatchdogConfig is what a watchdog goes by. The zero value is none.
type WatchdogConfig struct {
	Detect  units.Time // paused for so long without a break is a storm; 0: there is no watchdog
	Restore units.Time // not paused for so long ends it
	Action  Action
}

// Validate says what is wrong, in one line.
func (c WatchdogConfig) Validate() error {
	switch {
	case c.Detect < 0:
		return fmt.Errorf("detect %v must not be negative", c.Detect)
	case c.Restore < 0:
		return fmt.Errorf("restore %v must not be negative", c.Restore)
	}
	return nil
}

// Watchdog finds out that the peer of a port has paused a priority for longer
// than congestion explains, and when that has ended. It keeps no queue: the
// switch does to its queues what Dropping and Ignored say.
//
// The zero value watches nothing.
type Watchdog struct {
	config  WatchdogConfig
	watched uint8
	storm   uint8
	next    units.Time
	since   [Classes]units.Time // of the storm that lasts
	count   WatchdogCounters
}

// WatchdogCounters count storms. A storm that lasts is not yet in Restored.
type WatchdogCounters struct {
	Storm    uint8                             // priorities whose peer storms now
	Storms   [Classes]uint64                   // detected
	Under    [len(actionNames)][Classes]uint64 // the same, by the action of then
	Restored [Classes]uint64                   // ended
	Time     [Classes]units.Time               // spent in storms, from detection to restoration
}

// NewWatchdog returns the watchdog of a port on which the priorities in watched obey PFC.
func NewWatchdog(c WatchdogConfig, watched uint8) Watchdog {
	w := Watchdog{watched: watched}
	w.Configure(c)
	return w
}

// Configure changes what the watchdog goes by. The caller calls Update next,
// which ends the storms of a watchdog that is taken away.
func (w *Watchdog) Configure(c WatchdogConfig) {
	w.config, w.next = c, 0
	if c.Detect == 0 && w.storm == 0 {
		w.next = units.Never
	}
}

// Watch has other priorities be watched; storms of those that are not any more end. The caller calls Update next.
func (w *Watchdog) Watch(now units.Time, watched uint8) {
	for p := range Classes {
		if w.storm&^watched>>p&1 != 0 {
			w.count.Restored[p]++
			w.count.Time[p] += now - w.since[p]
		}
	}
	w.storm &= watched
	w.watched = watched
	w.Configure(w.config)
}

// Config is what the watchdog goes by.
func (w *Watchdog) Config() WatchdogConfig { return w.config }

// Next is when Update must be called if no frame changes the pauses meanwhile, or Never.
func (w *Watchdog) Next() units.Time { return w.next }

// Dropping is the set of priorities whose frames are to be discarded.
func (w *Watchdog) Dropping() uint8 {
	if w.config.Action == Drop || w.config.Action == DropBoth {
		return w.storm
	}
	return 0
}

// Refusing is the set of priorities of which nothing is to be taken from the peer.
func (w *Watchdog) Refusing() uint8 {
	if w.config.Action == DropBoth {
		return w.storm
	}
	return 0
}

// Ignored is the set of priorities whose pauses are to be ignored.
func (w *Watchdog) Ignored() uint8 {
	if w.config.Action == Forward {
		return w.storm
	}
	return 0
}

// Update looks at what the peer has paused and returns the priorities in which
// a storm began and ended. It is called after every change of s, and at Next;
// stops whose time has run out have been ended before (Egress.Expire).
func (w *Watchdog) Update(now units.Time, s Stops) (began, ended uint8) {
	w.next = units.Never
	stopped := s.Paused()
	for p := range Classes {
		bit := uint8(1) << p
		if w.watched&bit == 0 {
			continue
		}
		paused, storm := stopped&bit != 0, w.storm&bit != 0
		from, until := s.Last(p)
		switch {
		case w.config.Detect == 0:
			if storm {
				ended |= bit
			}
		case paused && storm:
			w.next = min(w.next, s.Ends(p))
		case paused:
			if at := from.Add(w.config.Detect); at <= now {
				began |= bit
				w.next = min(w.next, s.Ends(p))
			} else {
				w.next = min(w.next, at)
			}
		case storm:
			if at := until.Add(w.config.Restore); at <= now {
				ended |= bit
			} else {
				w.next = min(w.next, at)
			}
		}
	}
	for p := range Classes {
		if began>>p&1 != 0 {
			w.since[p] = now
			w.count.Storms[p]++
			w.count.Under[w.config.Action][p]++
		}
		if ended>>p&1 != 0 {
			w.count.Restored[p]++
			w.count.Time[p] += now - w.since[p]
		}
	}
	w.storm = w.storm&^ended | began
	return began, ended
}

// Counters returns the counts, storms that still last included up to now.
func (w *Watchdog) Counters(now units.Time) WatchdogCounters {
	c := w.count
	c.Storm = w.storm
	for p := range Classes {
		if w.storm>>p&1 != 0 {
			c.Time[p] += now - w.since[p]
		}
	}
	return c
}
