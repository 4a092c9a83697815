package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"photon/agent"
	"photon/config"
	"photon/lab/experiment"
	"photon/telemetry/client"
	"photon/telemetry/node"
	"photon/telemetry/show"
	"photon/units"
	"photon/wire"
)

func flowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "flow add|list|stop",
		Short: "Add, list and stop flows of a running agent",
		RunE: func(*cobra.Command, []string) error {
			return bad(errors.New("say what: flow add, flow list or flow stop"))
		},
		Args: unknownCommand,
	}
	for _, sub := range []*cobra.Command{flowAddCommand(), flowListCommand(), flowStopCommand()} {
		c.AddCommand(sub)
	}
	return c
}

// textFlag is a flag whose value reads itself from text.
type textFlag[T any, P interface {
	*T
	UnmarshalText([]byte) error
}] struct {
	into *T
	kind string
}

func (f textFlag[T, P]) String() string     { return "" }
func (f textFlag[T, P]) Type() string       { return f.kind }
func (f textFlag[T, P]) Set(s string) error { return P(f.into).UnmarshalText([]byte(s)) }

func flowAddCommand() *cobra.Command {
	var at socketFlags
	var file string
	var o node.FlowOrder
	var qp, count, dscp int
	c := &cobra.Command{
		Use:   "add --to ADDRESS [--size SIZE] ... | add -f FILE",
		Short: "Add flows to a running agent",
		Long: "Add flows to a running agent: equal ones by flags, or the flows and workloads of a file (docs/operate.md), which\n" +
			"has the form of experiments with addresses for names of hosts. Starts count from now.",
		RunE: func(c *cobra.Command, _ []string) error {
			request := node.FlowOrders{}
			given := c.Flags().Changed
			if file != "" {
				if other := setBeside(c, "file", "tenant", "socket", "name"); other != "" {
					return bad(fmt.Errorf("--%s goes with --to: with -f the file says it of its flows", other))
				}
			}
			switch {
			case given("to") && !o.To.Unicast():
				return bad(fmt.Errorf("--to %v: that is no address of a host", o.To))
			case given("to-mac") && !o.ToMAC.Unicast():
				return bad(fmt.Errorf("--to-mac %v: that is no address of a host (leave it out if the peer is an agent without a `mac`)",
					o.ToMAC))
			case given("size") && o.Size == 0:
				return bad(errors.New("--size 0B: a flow has something to send (leave it out for an endless flow)"))
			case given("rate") && o.Limit <= 0:
				return bad(fmt.Errorf("--rate %v: a flow sends at a rate above 0 (leave it out for no limit)", o.Limit))
			case given("begin") && o.Begin <= 0:
				return bad(fmt.Errorf(
					"--begin %v: a reaction point starts at a rate above 0 (leave it out for line rate)", o.Begin))
			case given("stop") && o.Stop <= o.Start:
				return bad(fmt.Errorf("--stop %v: that is not after --start %v (both count from now)", o.Stop, o.Start))
			case (file == "") == (o.To == wire.IP{}):
				return bad(errors.New("say where to (--to 10.0.0.2), or name a file of flows (-f)"))
			case count < 1 || count > 1e6:
				return bad(fmt.Errorf("--count %d: from 1 to 1000000", count))
			case given("qp") && (qp < 1 || qp >= 1<<24):
				return bad(fmt.Errorf("--qp %d: from 1 to %d (leave it out for free ones)", qp, 1<<24-1))
			case qp+count > 1<<24:
				return bad(fmt.Errorf("--qp %d: %d flows need queue pairs up to %d, and there are 1 to %d", qp, count, qp+count-1, 1<<24-1))
			case given("dscp") && (dscp < 1 || dscp > 63):
				return bad(fmt.Errorf("--dscp %d: from 1 to 63 (leave it out for the DSCP that the agent has for data)",
					dscp))
			case o.Weight < 1 || o.Weight > 255:
				return bad(fmt.Errorf("--weight %d: from 1 to 255", o.Weight))
			}
			client, err := at.dial()
			if err != nil {
				return err
			}
			if file != "" {
				if request.Flows, err = trafficOf(c, client, file, o.Tenant); err != nil {
					return err
				}
			}
			for k := 0; file == "" && k < count; k++ {
				f := o
				f.DSCP = uint8(dscp)
				if qp > 0 {
					f.QP = uint32(qp + k)
				}
				request.Flows = append(request.Flows, f)
			}
			done, err := client.OrderFlows(c.Context(), request)
			if err != nil {
				return answered(err)
			}
			if done.Count == 1 {
				fmt.Fprintf(c.OutOrStdout(), "flow %d\n", done.First)
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "flows %d to %d\n", done.First, done.First+uint64(done.Count)-1)
			return nil
		},
	}
	f := c.Flags()
	at.add(c)
	f.StringVarP(&file, "file", "f", "", "Read flows and workloads from this `file`")
	f.Var(textFlag[wire.IP, *wire.IP]{&o.To, "address"}, "to", "Send to the agent with this `address`")
	f.Var(textFlag[wire.MAC, *wire.MAC]{&o.ToMAC, "mac"}, "to-mac",
		"Send to this Ethernet `address` (default: the gateway's, or the one that an agent makes of its IP address)")
	f.Var(textFlag[units.Size, *units.Size]{&o.Size, "size"}, "size", "Send this much payload, as in 1MB (default: until the flow is stopped)")
	f.Var(textFlag[units.Time, *units.Time]{&o.Start, "time"}, "start", "Start after this long, as in 10ms")
	f.Var(textFlag[units.Time, *units.Time]{&o.Stop, "time"}, "stop", "Stop after this long (default: when all is sent)")
	f.Var(textFlag[units.Rate, *units.Rate]{&o.Limit, "rate"}, "rate", "Send no faster than this, as in 1Gbps")
	f.Var(textFlag[units.Rate, *units.Rate]{&o.Begin, "rate"}, "begin", "Start the reaction point at this rate, as if congestion had brought it there (default: line rate)")
	f.IntVar(&count, "count", 1, "Add this `number` of equal flows")
	f.IntVar(&qp, "qp", 0, "Give the first flow this queue pair, and the others the `numbers` after it (default: free ones)")
	f.IntVar(&dscp, "dscp", 0, "Send packets with this `DSCP` (default: the agent's for data)")
	f.StringVar(&o.Group, "group", "", "List the flows under this `name`")
	f.StringVar(&o.Tenant, "tenant", "", "Let the flows belong to the tenant with this `name` in the agent's configuration")
	f.IntVar(&o.Weight, "weight", 1, "Send this many `frames` per turn when flows wait for the port, 1 to 255")
	return c
}

// setBeside is a flag that was set and is none of these; empty: there is none.
func setBeside(c *cobra.Command, these ...string) (other string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if other == "" && !slices.Contains(these, f.Name) {
			other = f.Name
		}
	})
	return other
}

// trafficOf are the flows of a file that an agent is to send.
func trafficOf(c *cobra.Command, client *client.Client, file, tenant string) (list []node.FlowOrder, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, bad(config.FileError(file, err))
	}
	t, err := experiment.ParseTraffic(file, b)
	if err != nil {
		return nil, bad(err)
	}
	now, err := client.ListFlows(c.Context(), 1<<63)
	if err != nil {
		return nil, answered(err)
	}
	flows, err := t.Of(now.IP)
	if err != nil {
		return nil, bad(err)
	}
	for _, f := range flows {
		list = append(list, node.FlowOrder{
			Group: f.Group, To: f.To, Size: f.Size, Start: f.Start, Stop: f.Stop, Limit: f.Limit, Begin: f.Begin, DSCP: f.DSCP, Shared: f.Shared, Weight: f.Weight, Tenant: tenant,
		})
	}
	return list, nil
}

func flowListCommand() *cobra.Command {
	var at socketFlags
	var asJSON, asCSV bool
	var group string
	var states []string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the flows of a running agent: state, completion time, rate",
		RunE: func(c *cobra.Command, _ []string) error {
			for _, s := range states {
				if !slices.Contains(agent.StageNames(), s) {
					return bad(fmt.Errorf("--state %s: one of %s", s, strings.Join(agent.StageNames(), ", ")))
				}
			}
			client, err := at.dial()
			if err != nil {
				return err
			}
			all, err := client.ListFlows(c.Context(), 0)
			if err != nil {
				return answered(err)
			}
			all.Flows = slices.DeleteFunc(all.Flows, func(f show.FlowStatus) bool {
				return group != "" && f.Group != group || len(states) > 0 && !slices.Contains(states, f.State)
			})
			switch {
			case asCSV:
				w := csv.NewWriter(c.OutOrStdout())
				_ = w.Write(show.FlowCSV) // Error tells
				for i := range all.Flows {
					_ = w.Write(all.Flows[i].Row())
				}
				w.Flush()
				return w.Error()
			case asJSON:
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(all)
			}
			all.Table(c.OutOrStdout())
			return nil
		},
	}
	at.add(c)
	c.Flags().BoolVar(&asCSV, "csv", false, "Print the flows as CSV")
	c.Flags().BoolVar(&asJSON, "json", false, "Print the flows as JSON")
	c.Flags().StringVar(&group, "group", "", "List only the flows with this `name`")
	known := strings.Join(agent.StageNames(), ", ")
	c.Flags().StringSliceVar(&states, "state", nil, "List only flows in these `states`, separated by commas: "+known)
	return c
}

func flowStopCommand() *cobra.Command {
	var at socketFlags
	var group string
	var all bool
	c := &cobra.Command{
		Use:   "stop ID... | stop --group NAME | stop --all",
		Short: "Stop flows of a running agent, complete or not",
		RunE: func(c *cobra.Command, words []string) error {
			if n := min(len(words), 1) + map[bool]int{true: 1}[group != ""] + map[bool]int{true: 1}[all]; n != 1 {
				return bad(errors.New("say which: numbers of `photon flow list`, --group NAME, or --all"))
			}
			var ids []uint64
			for _, w := range words {
				id, err := strconv.ParseUint(w, 10, 64)
				if err != nil {
					return bad(fmt.Errorf("%q is not the number of a flow (photon flow list shows them)", w))
				}
				ids = append(ids, id)
			}
			client, err := at.dial()
			if err != nil {
				return err
			}
			if len(words) == 0 {
				list, err := client.ListFlows(c.Context(), 0)
				if err != nil {
					return answered(err)
				}
				for _, f := range list.Flows {
					if (all || f.Group == group) && (f.State == "pending" || f.State == "running") {
						ids = append(ids, f.ID)
					}
				}
			}
			n, err := client.StopFlows(c.Context(), ids)
			if err != nil {
				return answered(err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%d stopped\n", n)
			return nil
		},
		Args: cobra.ArbitraryArgs,
	}
	at.add(c)
	c.Flags().StringVar(&group, "group", "", "Stop the flows with this `name`")
	c.Flags().BoolVar(&all, "all", false, "Stop every flow")
	return c
}
