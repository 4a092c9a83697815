package accept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gopacket/gopacket/pcapgo"

	"photon/lab/stat"
	"photon/telemetry/node"
	"photon/telemetry/show"
	"photon/units"
	"photon/wire"
)

// pacedFrames is how many frames of a flow are looked at: as many as a capture has room for.
const pacedFrames = 5000

// pacing is the stage of two agents: one sends a flow at a twentieth of the link's rate, and when its packets come is
// recorded at the other.
func (p *Plan) pacing(ctx context.Context, r *report, dir string) (err error) {
	var agents [2]*child
	addresses := [2]wire.IP{wire.IPv4(198, 18, 0, 1), wire.IPv4(198, 18, 0, 2)}
	for i, device := range []string{p.Cables[0].Switch.V, p.Cables[0].Peer.V} {
		text := fmt.Sprintf("port: {device: %q", device)
		if rate := p.said(device); rate > 0 {
			text += fmt.Sprintf(", rate: %v", rate)
		}
		text += fmt.Sprintf(
			"}\nip: %v\nscheme: {name: none}\npfc: {priorities: [%d]}\n%s\n",
			addresses[i],
			lossless,
			p.dpdkConfig([]int{p.switchCores()[0], p.peerCore()}[i]),
		)
		c, err := start(ctx, dir, "agent", fmt.Sprintf("accept-agent%d", i), text)
		if err != nil {
			return err
		}
		defer func() { _ = c.stop() }() // an agent stops at once; what it sent is in the steps
		agents[i] = c
	}
	var ports [2]show.Ports
	if err := eventually(ctx, func() bool {
		for i, c := range agents {
			if c.shown(ctx, "ports", &ports[i]) != nil || !ports[i].Ports[0].Up {
				return false
			}
		}
		return true
	}); err != nil {
		return r.add(
			Step{Name: "pacing", Asserts: "the links of both agents come up", Measured: err.Error(), Verdict: Failed},
		)
	}
	rate := p.rate(p.Cables[0].Switch.V, units.Rate(ports[0].Ports[0].Rate))
	paced := rate / 20
	frames := p.pacedFrames(paced)
	file := "pacing.pcapng"
	stop, err := agents[1].capture(ctx, ports[1].Ports[0].Port, file, 64, 0)
	if err != nil {
		return err
	}
	done, err := agents[0].OrderFlows(
		ctx,
		node.FlowOrders{Flows: []node.FlowOrder{{To: addresses[1], Limit: paced, Size: units.Size(frames) * 1000}}},
	)
	if err != nil {
		return err
	}
	failed := eventually(ctx, func() bool {
		list, err := agents[0].ListFlows(ctx, 0)
		return err == nil &&
			slices.ContainsFunc(list.Flows, func(f show.FlowStatus) bool { return f.ID == done.First && f.End > 0 })
	})
	for _, c := range agents {
		failed = errors.Join(failed, c.saveTopics(ctx, "after"))
	}
	got, capturing := stop()
	if err := errors.Join(failed, capturing); err != nil {
		return err
	}
	come, err := arrivals(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	return r.add(p.paced(come, paced, units.Rate(ports[0].Ports[0].Rate), got.Lost, frames))
}

// pacedFrames is how many frames of a flow of this rate are looked at.
func (p *Plan) pacedFrames(rate units.Rate) int {
	if p.said(p.Cables[0].Switch.V) > 0 {
		return min(pacedFrames, int(rate.Bytes(3*units.Second)/1100)) // seconds are enough
	}
	return pacedFrames
}

// arrival is a packet of the flow, by its number from the first.
type arrival struct {
	k    int
	at   units.Time
	wire units.Size
}

// arrivals reads the flow's packets from a capture. A packet that was sent again counts once.
func arrivals(file string) (all []arrival, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		return nil, err
	}
	var first time.Time
	begin := 0
	for {
		b, info, err := in.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		const psnAt = ipAt + wire.IPv4Len + wire.UDPLen + 9 // the last three bytes of the BTH
		if _, _, ours := streamOf(b); ours || info.Length < 1000 || len(b) < psnAt+3 {
			continue // acknowledgements, and those who look for each other
		}
		psn := int(b[psnAt])<<16 | int(b[psnAt+1])<<8 | int(b[psnAt+2])
		if len(all) == 0 {
			first, begin = info.Timestamp, psn
		}
		k := (psn - begin) & (1<<24 - 1)
		if n := len(all); n > 0 && k <= all[n-1].k || k > 1<<23 {
			continue
		}
		all = append(all, arrival{k, units.FromDuration(info.Timestamp.Sub(first)), onWire(info.Length)})
	}
}

// paced judges when packets came. The rate is that of the line through all arrivals with the least squares. How late a
// packet is counts from the schedule, one packet every gap, that none is ahead of: what shifts all of them alike does
// not show.
func (p *Plan) paced(come []arrival, rate, card units.Rate, missing uint64, frames int) Step {
	step := Step{
		Name:    "pacing",
		Port:    p.Cables[0].Switch.V,
		Asserts: fmt.Sprintf("a flow that is held to %v comes at that rate", rate),
	}
	if len(come) < frames/2 || len(come) < 2 {
		step.Verdict, step.Measured = Failed, fmt.Sprintf(
			"%d of %d packets were recorded, %d did not fit into the capture",
			len(come),
			frames,
			missing,
		)
		return step
	}
	gap := rate.Serialize(come[0].wire)
	ahead := units.Never
	late := make([]float64, len(come))
	numbers, times := make([]float64, len(come)), make([]float64, len(come))
	for i, a := range come {
		behind := a.at - units.Time(a.k)*gap
		ahead, late[i] = min(ahead, behind), float64(behind)
		numbers[i], times[i] = float64(a.k), a.at.Seconds()
	}
	begin, each := stat.Line(numbers, times)
	off := gap.Seconds()/each - 1
	apart := make([]float64, len(come)) // of the line
	for i := range apart {
		apart[i] = math.Abs(times[i] - begin - each*numbers[i])
	}
	slices.Sort(apart)
	slices.Sort(late)
	at := func(q float64) units.Time { return units.Time(stat.Quantile(q, late)) - ahead }
	// The rate is known no better than arrivals at both ends of the flow are.
	within := 0.01 + stat.Quantile(0.99, apart)/times[len(times)-1]
	step.Asserts += fmt.Sprintf(", within %.2f %%", 100*within)
	step.Measured = fmt.Sprintf(
		"%+.3f %%; packets late by %v (median), %v (99 %%), %v (most), of %d; a gap is %v",
		100*off,
		at(0.5),
		at(0.99),
		at(1),
		len(come),
		gap,
	)
	step.Values = map[string]float64{
		"rate_error": off,
		"late_p50_s": at(0.5).Seconds(),
		"late_p99_s": at(0.99).Seconds(),
		"late_max_s": at(1).Seconds(),
		"gap_s":      gap.Seconds(),
		"packets":    float64(len(come)),
	}
	step.Verdict = verdict(off < within && off > -within)
	if why := p.slow(p.Cables[0].Switch.V, card); why != "" &&
		off <= -within { // a pacer does not make up for what it missed while others had the core
		step.Verdict, step.Why = NotPossible, why+", and the machine may be too slow for it"
	}
	return step
}
