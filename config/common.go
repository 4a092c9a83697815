package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"unicode"

	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// Port is one port of a switch or an agent.
type Port struct {
	Device     Value[string]      `yaml:"device"`         // PCI address, or virtual device and arguments
	Rate       Value[units.Rate]  `yaml:"rate"`           // of the link; on a card its own if absent
	Delay      Value[units.Time]  `yaml:"delay"`          // added to every frame sent; virtual devices only
	CableDelay Value[units.Time]  `yaml:"cable_delay"`    // one way, for the headroom; 500ns, which is 100 m
	Cable      Value[Length]      `yaml:"cable_length"`   // the same in metres: 40m
	Shutdown   Value[bool]        `yaml:"shutdown"`       // of switches: the port is shut from the start; false
	Accept     Value[string]      `yaml:"accept"`         // of switches with VLANs: all, tagged or untagged frames; ports that are tagged nowhere: untagged, others: all
	Impair     Impair             `yaml:"impair"`         // of switches, for tests: what is done to frames that come in
	Storm      StormControl       `yaml:"storm_control"`  // of switches; what it does not say, the switch's says
	Lossless   []Value[int]       `yaml:"lossless"`       // of switches: lossless priorities; those of pfc
	Asymmetric Value[bool]        `yaml:"asymmetric_pfc"` // of switches: PFC of every priority is obeyed, and sent for the lossless ones; false
	Pause      Value[bool]        `yaml:"pause"`          // of switches: 802.3x PAUSE is sent before frames are discarded for want of room; only without lossless priorities; false
	MTU        Value[int]         `yaml:"mtu"`            // of switches; the switch's, which is the most
	Trust      Value[string]      `yaml:"trust"`          // of switches; these six: what the switch says
	DSCP       map[int]Value[int] `yaml:"dscp_to_priority"`
	PCP        map[int]Value[int] `yaml:"pcp_to_priority"`
	Default    Value[int]         `yaml:"default_priority"`
	PCPOut     map[int]Value[int] `yaml:"priority_to_pcp"`
	Ingress    Ingress            `yaml:"lossy_ingress"` // of switches; what it does not say, the switch's says
	Queues     map[int]Queue      `yaml:"queues"`        // of switches; what they do not say, the switch's say
	Shaper     Shaper             `yaml:"shaper"`        // of switches; none
	Addresses  []Value[Subnet]    `yaml:"addresses"`     // of routers: theirs at this port, in addition to those of router; 10.1.0.1/24 says which next hops are there
}

// Scheme names a congestion control scheme and what is set otherwise.
type Scheme struct {
	Name   Value[string]            `yaml:"name"`   // pcn
	Params map[string]Value[string] `yaml:"params"` // `photon explain` shows them
	// Priorities, of switches and NICs, are those to which the scheme applies; the lossless ones.
	Priorities []Value[int] `yaml:"priorities"`
	// Shares, of switches, say what flows are entitled to: the first that matches counts, others have weight 1.
	Shares []Share `yaml:"shares"`

	// Known is what a testbed says of its network; nil: the node goes by its own links.
	Known *scheme.Network `yaml:"-"`
}

// PFC is flow control per priority.
type PFC struct {
	Priorities []Value[int]      `yaml:"priorities"`           // lossless ones; [3]
	XOFF       Value[units.Size] `yaml:"xoff"`                 // per ingress port and priority; 512KB
	XON        Value[units.Size] `yaml:"xon"`                  // XOFF less two frames
	Headroom   Value[units.Size] `yaml:"headroom"`             // computed from rate, cable, MTU and response
	HeadPool   Value[units.Size] `yaml:"headroom_pool"`        // of switches: headroom that all ports and priorities share; none: each has its own set aside
	Ratio      Value[float64]    `yaml:"over_subscribe_ratio"` // the same as a part of what they have together: so many times less; in place of headroom_pool
	Response   Value[units.Time] `yaml:"response"`             // our own, part of the headroom; 100us
	MACPHY     Value[units.Size] `yaml:"mac_phy_delay"`        // what arrives while an XOFF passes through our own MAC and PHY, part of the headroom; 819B on a card, 0B on a virtual device
	Alpha      Value[float64]    `yaml:"alpha"`                // of switches: this part of what is free of the shared buffer is added to xoff and xon; 0
	Pause      Value[units.Time] `yaml:"pause"`                // asked for by an XOFF; the longest there is
	Deadlock   Value[units.Time] `yaml:"deadlock"`             // of switches: a queue that is paused for so long may be in a cycle of paused ones, which is looked for; 100ms; 0s: it is not
	Watchdog   *Watchdog         `yaml:"watchdog"`             // of switches; none if absent
}

// Watchdog is what becomes of a port whose peer pauses it without end.
type Watchdog struct {
	Detect  Value[units.Time] `yaml:"detect"`  // paused for so long without a break is a storm; 400ms
	Restore Value[units.Time] `yaml:"restore"` // not paused for so long ends it; 400ms
	Action  Value[pfc.Action] `yaml:"action"`  // drop (the queue's frames), drop_both (and what the peer sends of that priority), forward (in spite of the pause) or alert; drop
}

// DPDK is how the dataplane runs.
type DPDK struct {
	Workers   Value[int]        `yaml:"workers"`   // pinned, polling; 1
	Cores     []Value[int]      `yaml:"cores"`     // where; the last ones
	Hugepages Value[bool]       `yaml:"hugepages"` // false: ordinary memory
	Frames    Value[int]        `yaml:"frames"`    // frame buffers; from the buffer's size
	Sleep     Value[units.Time] `yaml:"sleep"`     // of an idle worker; 20us if all ports are virtual, else 0: poll without rest
	Garbage   Value[units.Size] `yaml:"garbage"`   // that scrapes and commands may leave before it is collected, with the peers paused; 256MB
	EAL       []Value[string]   `yaml:"eal"`       // further arguments of DPDK
}

// Defaults.
const (
	defaultName      = "switch"
	defaultXOFF      = 512 * units.KB // PCN, section 7
	defaultMTU       = 1500
	defaultAddresses = 16384 // that a VLAN learns
	defaultPauses    = 1024  // of a port's history
	defaultEvents    = 256
	defaultGarbage   = 256 * units.MB
	defaultTail      = units.MB
	defaultCable     = 500 * units.Nanosecond
	defaultResponse  = 100 * units.Microsecond
	defaultRate      = 10 * units.Gbps
	mostRate         = 1600 * units.Gbps // Ethernet's fastest, IEEE P802.3dj
	defaultMetrics   = "127.0.0.1:9464"
	cnpDSCP          = 48 // of CNPs and acknowledgements
)

// checkRate says what is wrong with the rate of a link.
func checkRate(r Value[units.Rate]) error {
	if r.IsSet() && (r.V <= 0 || r.V > mostRate) {
		return fail(r, "rate %v must be positive, and at most %v", r.V, mostRate)
	}
	return nil
}

// virtual reports whether a device is not a card.
func (p Port) virtual() bool {
	return strings.HasPrefix(p.Device.V, "net_") || strings.HasPrefix(p.Device.V, "virtio_user")
}

func (p Port) check() error {
	if p.Device.V == "" {
		return FailIn([]any{p}, "a port needs a device (a PCI address such as 0000:03:00.0, or net_af_packet0,iface=sw0)")
	}
	if name := p.Device.V; strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == "" { // eth0, enp3s0
		return fail(p.Device, "device %q: write net_af_packet0,iface=%s for an interface of the kernel, or a card's PCI address (0000:03:00.0)", name, name)
	}
	if !dpdk.IsPCI(p.Device.V) && !p.virtual() && !strings.HasPrefix(p.Device.V, "auxiliary:") {
		return fail(p.Device, "device %q: neither a PCI address (0000:03:00.0) nor a virtual device (net_af_packet0,iface=sw0)", p.Device.V)
	}
	if err := checkRate(p.Rate); err != nil {
		return err
	}
	if p.CableDelay.V < 0 {
		return fail(p.CableDelay, "cable_delay %v must not be negative", p.CableDelay.V)
	}
	if p.CableDelay.IsSet() && p.Cable.IsSet() {
		return fail(p.Cable, "cable_length and cable_delay say the same: leave one out")
	}
	if p.Delay.V < 0 || p.Delay.V > 0 && !p.virtual() {
		return fail(p.Delay, "delay %v: it must not be negative, and only virtual devices have one", p.Delay.V)
	}
	return nil
}

// checkDevice says what is wrong with what a port's device is told, where the longest frames of all ports are of most.
func (p Port) checkDevice(mtu, most int) error {
	if err := dpdk.CheckSpec(p.Device.V, mtu, dpdk.FrameSize(most)); err != nil {
		return fail(p.Device, "device %s: %w", p.Device.V, err)
	}
	return nil
}

// usedTwice says what two ports cannot both have.
func usedTwice(ports ...Port) error {
	taken := map[string]bool{}
	for _, p := range ports {
		for _, thing := range dpdk.Claims(p.Device.V) {
			if taken[thing] {
				return fail(p.Device, "%s is used twice", thing)
			}
			taken[thing] = true
		}
	}
	return nil
}

// checkMTU says what no MTU can be.
func checkMTU(v Value[int]) error {
	if mtu := v.Or(defaultMTU); mtu < 46 || mtu > 9216 {
		return fail(v, "mtu %d must be from 46 to 9216", mtu)
	}
	return nil
}

// rate is the link's: as configured, as the device says, or the default.
func (p Port) rate(device units.Rate) units.Rate {
	switch {
	case p.Rate.V > 0:
		return p.Rate.V
	case device > 0:
		return device
	}
	return defaultRate
}

// Fail is an error of the port, with the file and the line where it is named.
func (p Port) Fail(file string, err error) error {
	return &Error{File: file, Line: p.Device.Line, Err: err}
}

func fail[T any](v Value[T], format string, args ...any) error {
	return &Error{Line: v.Line, Err: fmt.Errorf(format, args...)}
}

// inFile adds the file's name to an error that has a line only.
func inFile(file string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.File = file
		return e
	}
	if err == nil {
		return nil
	}
	return &Error{File: file, Err: err}
}

// check finds what is no time and no size for flow control.
func (p PFC) check() error {
	switch {
	case p.Response.V < 0 || p.Response.V > units.Second:
		return fail(p.Response, "response %v: how long photon itself may take to see a PAUSE, 0 to 1s", p.Response.V)
	case p.MACPHY.V < 0:
		return fail(p.MACPHY, "mac_phy_delay %v must not be negative", p.MACPHY.V)
	case p.Headroom.V < 0:
		return fail(p.Headroom, "headroom %v must not be negative", p.Headroom.V)
	case p.HeadPool.IsSet() && p.Ratio.IsSet():
		return fail(p.Ratio, "over_subscribe_ratio and headroom_pool say the same: leave one out")
	case p.HeadPool.IsSet() && p.HeadPool.V <= 0:
		return fail(p.HeadPool, "headroom_pool %v must be positive (leave it out, and each port has its own headroom)", p.HeadPool.V)
	case p.Ratio.IsSet() && !(p.Ratio.V >= 1 && p.Ratio.V <= mostRatio):
		return fail(p.Ratio, "over_subscribe_ratio %v must be from 1 to %v", p.Ratio.V, mostRatio)
	case p.Pause.IsSet() && p.Pause.V <= 0:
		return fail(p.Pause, "pause %v must be positive (leave it out for the longest there is)", p.Pause.V)
	}
	return nil
}

// mostRatio bounds by how much headroom can be over-subscribed: by more than there are priorities at all ports it is not.
const mostRatio = 256

// shared is how much headroom all share that need so much together, and one of them at most so much; 0: they share none.
func (p PFC) shared(all, one units.Size) (units.Size, error) {
	switch {
	case p.Ratio.IsSet():
		return max(one, units.Size(float64(all)/p.Ratio.V)), nil
	case p.HeadPool.IsSet() && p.HeadPool.V < one:
		return 0, fail(p.HeadPool, "headroom_pool %v is less than the headroom of a single priority, %v: its peer would overrun it", p.HeadPool.V, one)
	}
	return p.HeadPool.V, nil
}

// lossless returns the set of lossless priorities.
func (p PFC) lossless() (set uint8, err error) {
	if p.Priorities == nil {
		return 1 << 3, nil
	}
	return setOf(p.Priorities)
}

// setOf is the set of listed priorities.
func setOf(list []Value[int]) (set uint8, err error) {
	for _, v := range list {
		if v.V < 0 || v.V >= pfc.Classes {
			return 0, fail(v, "priority %d: there are 0 to 7", v.V)
		}
		if set>>v.V&1 != 0 {
			return 0, fail(v, "priority %d is named twice", v.V)
		}
		set |= 1 << v.V
	}
	return set, nil
}

// thresholds returns XOFF and XON; the headroom is the port's.
func (p PFC) thresholds(mtu int) (pfc.Thresholds, error) {
	t := pfc.Thresholds{XOFF: p.XOFF.Or(defaultXOFF), Alpha: p.Alpha.V}
	t.XON = p.XON.Or(pfc.XONBelow(t.XOFF, units.Size(mtu)))
	if frame := longest(mtu); t.XOFF > 0 && t.XOFF < frame && t.Alpha == 0 {
		return t, fail(p.XOFF, "xoff %v is less than the longest frame, %v: each would pause the peer", t.XOFF, frame)
	}
	if err := t.Validate(); err != nil {
		line := cmp.Or(p.XON.Line, p.XOFF.Line)
		if strings.HasPrefix(err.Error(), "alpha") {
			line = p.Alpha.Line
		}
		return t, &Error{Line: line, Err: err}
	}
	return t, nil
}

// watchdog is what a switch's watchdog goes by.
func (p PFC) watchdog() (pfc.WatchdogConfig, error) {
	if p.Watchdog == nil {
		return pfc.WatchdogConfig{}, nil
	}
	const usual = 400 * units.Millisecond // SONiC's example
	w := pfc.WatchdogConfig{Detect: p.Watchdog.Detect.Or(usual), Restore: p.Watchdog.Restore.Or(usual), Action: p.Watchdog.Action.V}
	const least = units.Millisecond // with less, any pause is a storm
	if w.Detect < least {
		return w, fail(p.Watchdog.Detect, "watchdog: detect %v must be %v or more (leave `watchdog:` out for none)", w.Detect, least)
	}
	if w.Restore < least {
		return w, fail(p.Watchdog.Restore, "watchdog: restore %v must be %v or more", w.Restore, least)
	}
	return w, nil
}

// longest is the longest frame of an MTU, with its Ethernet header and a tag, without FCS.
func longest(mtu int) units.Size { return units.Size(mtu + wire.EthernetLen + wire.VLANLen) }

// headroom is what a port needs beyond XOFF, by cause. Its own MTU is of what it sends: what comes may be as long as
// other ports let out.
func (p PFC) headroom(port Port, rate units.Rate, mtu int) pfc.HeadroomParts {
	cable := port.CableDelay.Or(defaultCable)
	if port.Cable.IsSet() {
		cable = port.Cable.V.Delay()
	}
	ahead, inside := units.Time(0), units.Size(0)
	if !port.virtual() {
		ahead, inside = dpdk.Ahead(port.link(rate)), pfc.CardMACPHY
	}
	parts := pfc.HeadroomOf(rate, cable+port.Delay.V, p.Response.Or(defaultResponse), ahead, longest(mtu))
	parts.Frames -= longest(mtu) - longest(cmp.Or(port.MTU.V, mtu))
	parts.MACPHY = p.MACPHY.Or(inside)
	return parts
}

// pauseGap is how far apart polls may be so that an XOFF is sent again before the peer goes on. The refresh may have to
// wait behind a frame, and in a card behind what the card was given before.
func (p PFC) pauseGap(port Port, rate units.Rate, mtu int) units.Time {
	_, spare := pfc.Paused(p.Pause.V, rate)
	if !port.virtual() {
		spare -= dpdk.Ahead(port.link(rate))
	}
	frame := longest(cmp.Or(port.MTU.V, mtu)) + wire.Overhead
	return max(0, spare-rate.Serialize(frame))
}

// build makes a scheme's parts; errors name the line of the parameter.
func (s Scheme) build(n scheme.Network) (scheme.Parts, *scheme.Scheme, error) {
	recipe, err := scheme.Get(s.Name.Or("pcn"))
	if err != nil {
		return scheme.Parts{}, nil, fail(s.Name, "%v", err)
	}
	over := s.overrides()
	parts, err := recipe.Build(n, over)
	if err != nil {
		line := cmp.Or(s.Params[scheme.WrongParam(err, s.Params)].Line, s.Name.Line)
		return parts, recipe, &Error{Line: line, Err: err}
	}
	return parts, recipe, nil
}

// inert warns of a least rate that is the line's: then no notification slows a flow down.
func (s Scheme) inert(recipe *scheme.Scheme, line units.Rate) []string {
	set, _ := recipe.Settings(scheme.Network{Line: line}, s.overrides()) // build has seen them
	for _, p := range set {
		if least, err := units.ParseRate(p.Value); p.Name == "min_rate" && err == nil && least >= line {
			return []string{fmt.Sprintf("  warning: min_rate of scheme %s, %v, is the line's rate: it slows no flow down "+
				"(params: {min_rate: %v})", recipe.Name, least, max(1, line/10))}
		}
	}
	return nil
}

// overrides are the parameters that the file sets.
func (s Scheme) overrides() map[string]scheme.Override {
	over := map[string]scheme.Override{}
	for name, v := range s.Params {
		over[name] = scheme.Override{Value: v.V, Source: "configuration"}
	}
	return over
}

// options are those of the world.
func (d DPDK) options(ports []Port, frames, mtu int) dpdk.Options {
	o := dpdk.Options{
		Workers: d.Workers.Or(1), Hugepages: d.Hugepages.V, Sleep: d.Sleep.V,
		Frames: d.Frames.Or(max(frames, 16384)), FrameSize: dpdk.FrameSize(mtu),
	}
	for _, c := range d.Cores {
		o.Cores = append(o.Cores, c.V)
	}
	for _, a := range d.EAL {
		o.EAL = append(o.EAL, a.V)
	}
	allVirtual := true
	for _, p := range ports {
		if !p.virtual() {
			allVirtual = false
			o.PCI = append(o.PCI, p.Device.V)
		}
	}
	if allVirtual && !d.Sleep.IsSet() {
		o.Sleep = 20 * units.Microsecond
	}
	return o
}

const (
	leastFrames = 2048    // what a worker keeps at hand, and as many on their way
	mostFrames  = 1 << 24 // some 43 GB of them
)

func (d DPDK) check() error {
	if n := d.Workers.Or(1); n < 1 || len(d.Cores) > 0 && len(d.Cores) < n {
		return fail(d.Workers, "%d workers on %d cores: name a core for each", n, len(d.Cores))
	}
	seen := map[int]bool{}
	for _, c := range d.Cores {
		if c.V < 0 {
			return fail(c, "core %d must not be negative", c.V)
		}
		if seen[c.V] {
			return fail(c, "core %d is there twice: a worker needs one of its own", c.V)
		}
		seen[c.V] = true
	}
	if f := d.Frames; f.IsSet() && (f.V < leastFrames || f.V > mostFrames) {
		return fail(f, "frames %d must be from %d to %d", f.V, leastFrames, mostFrames)
	}
	if s := d.Sleep; s.V < 0 || s.V > 100*units.Millisecond {
		return fail(s, "sleep %v must be from 0s to 100ms", s.V)
	}
	if g := d.Garbage; g.IsSet() && g.V < units.MB {
		return fail(g, "garbage %v must be 1MB or more", g.V)
	}
	return nil
}

// GarbageLimit is how much there may be before it is collected.
func (d DPDK) GarbageLimit() units.Size { return d.Garbage.Or(defaultGarbage) }

// metricsAddress checks where metrics are served; empty: nowhere.
func metricsAddress(v Value[string]) (string, error) {
	address := v.Or(defaultMetrics)
	if address == "off" {
		return "", nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return "", fail(v, "metrics %q: not an address (write it like 127.0.0.1:9464, or off)", address)
	}
	return address, nil
}

// Admin is where a node's admin socket is to be.
type Admin struct {
	Off  bool
	Path string // empty: where `photon show` looks for the node's name
}

// admin checks where the admin socket is to be. A node's name is its file's name.
func admin(v, name Value[string]) (Admin, error) {
	if strings.ContainsFunc(name.V, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }) {
		return Admin{}, fail(name, "name %q: it is part of a file's name, and of lines: no slash, and nothing that cannot be seen", name.V)
	}
	if len(name.V) > 64 {
		return Admin{}, fail(name, "name: %d bytes, and 64 are the most: it is part of the path of a socket", len(name.V))
	}
	path := v.Or("")
	switch {
	case path == "off":
		return Admin{Off: true}, nil
	case v.IsSet() && path == "":
		return Admin{}, fail(v, "admin: a path belongs here (write it like /run/photon/sw.sock), or off")
	case len(path) > 107: // sun_path of the kernel
		return Admin{}, fail(v, "admin %q: the path of a socket has at most 107 bytes", path)
	}
	return Admin{Path: path}, nil
}

// priorities is a map to a priority, with a default and what the file changes.
func priorities(m map[int]Value[int], base []uint8, what string) error {
	for k, v := range m {
		if k < 0 || k >= len(base) {
			return fail(v, "%s %d: there are 0 to %d", what, k, len(base)-1)
		}
		if v.V < 0 || v.V >= pfc.Classes {
			return fail(v, "priority %d: there are 0 to 7", v.V)
		}
		base[k] = uint8(v.V)
	}
	return nil
}

// link is what a port sends into.
func (p Port) link(rate units.Rate) fabric.Link {
	return fabric.Link{Rate: rate, Delay: p.Delay.V}
}

// Series says what has series of its own in /metrics where not everything needs to.
type Series struct {
	Priorities []Value[int] `yaml:"priorities"` // all
	Flows      Value[int]   `yaml:"flows"`      // so many of the fastest; agents only; 0
}

// maxFlowSeries bounds what a scrape grows by.
const maxFlowSeries = 100

// Bounds are the priorities, as bits, and the number of flows.
func (s Series) Bounds() (priorities uint8, flows int) {
	for _, p := range s.Priorities {
		priorities |= 1 << (p.V & 7)
	}
	if s.Priorities == nil {
		priorities = 0xFF
	}
	return priorities, s.Flows.V
}

func (s Series) check() error {
	for _, v := range s.Priorities {
		if v.V < 0 || v.V >= pfc.Classes {
			return fail(v, "series: priority %d: there are 0 to 7", v.V)
		}
	}
	if s.Flows.V < 0 || s.Flows.V > maxFlowSeries {
		return fail(s.Flows, "series: flows %d: from 0 to %d (photon show flows lists 100)", s.Flows.V, maxFlowSeries)
	}
	return nil
}
