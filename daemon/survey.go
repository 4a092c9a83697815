package daemon

import (
	"net"
	"strconv"

	"photon/agent"
	"photon/telemetry"
	"photon/units"
	"photon/wire"
)

// surveySlots is how many flows are asked while the worker rests: some tens of
// microseconds.
const surveySlots = 256

// pairName is a queue pair of the specification.
type pairName struct {
	peer  wire.IP
	local uint32
}

// survey asks the flows of an agent what they are allowed, some at a time. What a queue pair of the specification
// answers to READs is a flow of its own while there is any: it is shown as one with the flow of the pair's messages.
func (d *daemon) survey(top int) *telemetry.Survey {
	s := telemetry.NewSurvey(top)
	shown := map[pairName]bool{}
	seen := make([]agent.FlowState, 0, surveySlots)
	for from := 0; from < d.host.Flows(); from += surveySlots {
		seen = seen[:0]
		d.world.DoBriefly(func(now units.Time) {
			for id := from; id < min(from+surveySlots, d.host.Flows()); id++ {
				if f := d.host.Flow(now, id); f.Active && f.Spec.Start <= now {
					seen = append(seen, f)
				}
			}
		})
		for i := range seen {
			f := &seen[i]
			if p := f.Spec.Pair; p != nil {
				name := pairName{f.Spec.Peer, p.Local}
				if shown[name] {
					continue
				}
				shown[name] = true
			}
			s.Add(telemetry.Flow{
				Peer: f.Spec.Peer.String(), QP: f.Spec.QP, Priority: int(f.Prio), Rate: int64(f.Rate),
				Packets: f.Frames + f.Responses.Frames, Bytes: f.Bytes + f.Responses.Bytes,
				Notified: f.Notified, Limited: f.Limited,
			})
		}
	}
	return s
}

// surveyNIC is survey of a NIC.
func (d *daemon) surveyNIC(top int) *telemetry.Survey {
	s := telemetry.NewSurvey(top)
	seen := make([]agent.NICFlow, 0, surveySlots)
	for from := 0; from < d.nic.Slots(); from += surveySlots {
		seen = seen[:0]
		d.world.DoBriefly(func(now units.Time) {
			for i := from; i < min(from+surveySlots, d.nic.Slots()); i++ {
				if f, ok := d.nic.Flow(now, i); ok {
					seen = append(seen, f)
				}
			}
		})
		for i := range seen {
			s.Add(flowOfNIC(&seen[i]))
		}
	}
	return s
}

// flowOfNIC is a flow of applications as it is shown.
func flowOfNIC(f *agent.NICFlow) telemetry.Flow {
	protocol := strconv.Itoa(int(f.Proto))
	switch {
	case f.RoCE:
		protocol = "roce"
	case f.Proto == wire.ProtoTCP:
		protocol = "tcp"
	case f.Proto == wire.ProtoUDP:
		protocol = "udp"
	}
	end := func(a wire.IP, port uint16) string {
		if port == 0 {
			return a.String()
		}
		return net.JoinHostPort(a.String(), strconv.Itoa(int(port)))
	}
	return telemetry.Flow{
		From: end(f.From, f.FromPort), Peer: end(f.To, f.ToPort), Protocol: protocol, QP: f.QP, Priority: int(f.Prio), Rate: int64(f.Rate), Packets: f.Frames, Bytes: f.Bytes,
		Notified: f.Notified, Limited: f.Limited, Waiting: f.Waiting, Silent: f.Silent,
	}
}
