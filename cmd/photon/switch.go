package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/impair"
	"photon/units"
)

func switchCommand() *cobra.Command {
	var file, scheme, metrics, admin, live string
	var rate units.Rate
	var ports []string
	c := &cobra.Command{
		Use:   "switch [-c switch.yaml | --port DEVICE --port DEVICE ...]",
		Short: "Be a lossless switch on network cards or virtual devices",
		Example: "  photon switch -c deploy/switch.yaml\n" +
			"  photon switch --port net_af_packet0,iface=eth1 --port net_af_packet1,iface=eth2 --rate 1Gbps --scheme dcqcn",
		Long: "Be a lossless switch. A port is a network card by its PCI address (0000:03:00.0), or a virtual device of\n" +
			"DPDK with its arguments (net_af_packet0,iface=sw0 sits on the kernel's interface sw0; net_tap0; net_memif0;\n" +
			"net_null0). It learns addresses, keeps priority 3 lossless with PFC, and marks as the scheme says.",
		RunE: func(c *cobra.Command, _ []string) error {
			read := func() (*config.Switch, error) {
				return switchConfig(c, file, ports, scheme, rate, metrics, admin, live)
			}
			conf, err := read()
			if err != nil {
				return bad(err)
			}
			if file == "" {
				read = nil
			}
			return runSwitch(c, conf, read)
		},
	}
	f := c.Flags()
	f.StringVarP(&file, "config", "c", "", "configuration `file` (deploy/switch.yaml is an example)")
	f.StringArrayVar(&ports, "port", nil, "`device` of a port, in place of a file; repeat it")
	f.StringVar(&scheme, "scheme", "pcn", "congestion control scheme (photon list schemes)")
	f.Var(&rateFlag{&rate}, "rate", "`rate` of every link, as in 10Gbps; on virtual devices it is emulated (default: a card's own, else 10Gbps)")
	f.StringVar(&metrics, "metrics", "127.0.0.1:9464", "`address` for Prometheus, or off")
	f.StringVar(&admin, "admin", "", "`path` of the socket for photon show and its sisters, or off (default: /run/photon/NAME.sock)")
	f.StringVar(&live, "live", "", "loopback `address` of a page that shows the switch at work, as in 127.0.0.1:9471 (default: none)")
	return c
}

// rateFlag is a flag that is a rate.
type rateFlag struct{ rate *units.Rate }

func (r *rateFlag) String() string { return "" }
func (r *rateFlag) Type() string   { return "rate" }
func (r *rateFlag) Set(s string) (err error) {
	*r.rate, err = units.ParseRate(s)
	return err
}

// switchConfig is the file's, changed by flags, or made of flags alone.
func switchConfig(c *cobra.Command, file string, ports []string, scheme string, rate units.Rate, metrics, admin, live string) (*config.Switch, error) {
	conf := &config.Switch{}
	if file != "" {
		var err error
		if conf, err = config.ReadSwitch(file); err != nil {
			return nil, wrongKind(file, switchFile, err)
		}
		if len(ports) > 0 {
			return nil, errors.New("--port and --config: a file names its own ports")
		}
	}
	for _, p := range ports {
		conf.Ports = append(conf.Ports, config.Port{Device: config.Set(p)})
	}
	if f := c.Flags(); f.Changed("scheme") || file == "" {
		conf.Scheme.Name = config.Set(scheme)
	}
	if c.Flags().Changed("rate") {
		if rate <= 0 {
			return nil, fmt.Errorf("--rate %v must be positive", rate)
		}
		conf.Rate = config.Set(rate)
	}
	if c.Flags().Changed("metrics") {
		conf.Metrics = config.Set(metrics)
	}
	if c.Flags().Changed("admin") {
		conf.Admin = config.Set(admin)
	}
	if c.Flags().Changed("live") {
		conf.Live.Listen = config.Set(live)
	}
	return conf, conf.Check()
}

// newWorld is dpdk.New; what does not fit the machine is the user's to mend.
func newWorld(o dpdk.Options) (dpdk.World, error) {
	w, err := dpdk.New(o)
	return w, bad(err)
}

// runSwitch is the switch until the command ends. again reads the configuration
// anew; nil if there is no file.
func runSwitch(c *cobra.Command, conf *config.Switch, again func() (*config.Switch, error)) error {
	if !dpdk.Available {
		return bad(dpdk.ErrNotBuilt)
	}
	d := &daemon{log: newLog(c.ErrOrStderr()), name: conf.Name.Or("switch"), garbage: conf.DPDK.GarbageLimit()}
	at := asked{name: d.name, metrics: conf.MetricsAddress(), live: conf.Live.Address(), admin: conf.AdminSocket()}
	var err error
	if d.sockets, err = at.open(d.log); err != nil {
		return err
	}
	defer d.sockets.close()
	w, err := newWorld(conf.Options())
	if err != nil {
		return err
	}
	defer w.Close()
	devices, err := openAll(w, conf.File(), conf.Ports, func(int) int { return conf.MTU.Or(1500) }, 0)
	if err != nil {
		return err
	}
	conf.Start(conf.Options().Frames, config.Base(devices[0]))
	opened := devices
	devices = make([]dpdk.Device, dpdk.MaxPorts) // by place
	copy(devices, opened)
	node, err := conf.Resolve(devices)
	if err != nil {
		return bad(err)
	}
	node.Config.ID = rand.Uint64()
	envs := w.NewEnvs(len(devices))
	s, err := dataplane.NewSwitch(node.Config, envs)
	if err != nil {
		return bad(err)
	}
	s.Reserve()
	d.world, d.node, d.envs, d.workers = w, s, envs, node.Workers
	if specs := conf.Impaired(); specs != nil {
		d.impaired = impair.New(s, envs, node.Workers, specs, s.Priority)
		d.node = d.impaired
	}
	d.sw, d.scheme, d.params, d.response = s, node.Scheme.Name, node.Params, conf.Response()
	d.loaded.conf, d.loaded.devices, d.loaded.again = conf, devices, again
	d.rates = make([]units.Rate, len(devices))
	id := w.Add(d.name, d.node, envs, node.Workers)
	d.series.Priorities, d.series.Flows = conf.Series.Bounds()
	d.id, d.lossless = id, node.Config.Lossless
	for i, dev := range opened {
		if err := w.Attach(dataplane.End{Node: id, Port: i}, dev, node.Links[i]); err != nil {
			return bad(err)
		}
		d.setNames(append(d.names(), portName(dev.Spec))...)
		d.rates[i] = node.Links[i].Rate
		d.log.Infof("port %d is %s, %v", i, dev.Spec, dev.MAC)
		d.warnOfNode(i)
	}
	if err := d.tellFlowControl(conf.File(), conf.Ports, opened); err != nil {
		return err
	}
	d.shutAtStart(conf)
	d.testbed = &testbedNode{d: d}
	for _, line := range node.Describe() {
		d.log.Info(line)
	}
	d.tellGap(d.gaps(conf, devices))
	return d.serve(c.Context())
}

// portName is what metrics call a port: the kernel's interface, or the device.
func portName(spec string) string {
	name, arguments, _ := strings.Cut(spec, ",")
	for a := range strings.SplitSeq(arguments, ",") {
		if iface, ok := strings.CutPrefix(a, "iface="); ok && !strings.Contains(iface, "/") { // not a socket
			return iface
		}
	}
	return name
}
