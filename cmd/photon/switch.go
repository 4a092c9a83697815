package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/daemon"
	"photon/units"
)

func switchCommand() *cobra.Command {
	var file, scheme, metrics, admin, live string
	var rate units.Rate
	var ports []string
	var log logFlags
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
			return ended(daemon.Switch(c.Context(), running(c, log), conf, read))
		},
	}
	f := c.Flags()
	f.StringVarP(&file, "config", "c", "", "Read the configuration from this `file` (deploy/switch.yaml is an example)")
	f.StringArrayVar(&ports, "port", nil, "Make this `device` a port, in place of a file; once for each port")
	f.StringVar(&scheme, "scheme", "pcn", "Mark as this congestion control `scheme` does (photon list schemes)")
	f.Var(&rateFlag{&rate}, "rate", "Give every link this `rate`, which virtual devices emulate (default: a card's own, else 10Gbps)")
	f.StringVar(&metrics, "metrics", "127.0.0.1:9464", "Serve metrics for Prometheus at this `address`, or with off nowhere")
	f.StringVar(&admin, "admin", "", "Open the admin socket at this `path`, or with off nowhere (default: /run/photon/NAME.sock)")
	f.StringVar(&live, "live", "", "Serve a page that shows the switch at work at this loopback `address`, as in 127.0.0.1:9471 (default: none)")
	log.add(c, requestsToo)
	return c
}

// requestsToo is what a verbose switch or agent logs.
const requestsToo = "Log each request to the admin socket and for metrics, too"

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

// running is how a daemon is started by a command.
func running(c *cobra.Command, l logFlags) daemon.Options {
	return daemon.Options{Log: c.ErrOrStderr(), Verbose: l.verbose, JSON: l.format == "json", Version: version}
}

// ended returns how a daemon ended, with its refusals marked as bad input.
func ended(err error) error {
	if errors.As(err, &daemon.Refusal{}) {
		return bad(err)
	}
	return err
}
