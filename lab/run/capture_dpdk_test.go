//go:build dpdk

package run

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"photon/cnp"
	"photon/fabric"
	"photon/internal/testnet"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// recorder keeps what arrives at a node beside data: PFC, CNP, CNM, and the
// first data packets and acknowledgements.
type recorder struct {
	fabric.Node
	env   *fabric.Env
	mu    *sync.Mutex
	kinds map[string][][]byte
}

// enough frames of a kind show what it looks like.
const enough = 20

func (r *recorder) Receive(now units.Time, port int, burst []fabric.Frame) {
	for _, f := range burst {
		b := r.env.Header(f)
		if kind := kindOf(b); kind != "" {
			r.mu.Lock()
			if len(r.kinds[kind]) < enough {
				r.kinds[kind] = append(r.kinds[kind], bytes.Clone(b))
			}
			r.mu.Unlock()
		}
	}
	r.Node.Receive(now, port, burst)
}

func kindOf(b []byte) string {
	var h wire.Header
	switch {
	case !wire.Parse(b, &h):
		return ""
	case h.EtherType == wire.TypeMACControl:
		return "pfc"
	case h.EtherType == wire.TypeCNM:
		return "cnm"
	case h.BTH == 0:
		return ""
	}
	switch wire.BTH(b[h.BTH:]).Opcode() {
	case wire.OpCNP:
		return "cnp"
	case wire.OpAcknowledge:
		return "ack"
	}
	return "data"
}

// Every scheme runs figure 11's dumbbell on DPDK without a lost frame, and what
// its switches and hosts tell each other decodes in tshark: PFC and CNP by their
// protocols, CNM by its ethertype and bytes.
func TestEverySchemeOnDPDK(t *testing.T) {
	sends := map[string]string{ // besides PFC, what a scheme's congestion is told by
		"pcn": "cnp", "dcqcn": "cnp", "dcqcn+": "cnp", "dcqcn-mlx": "cnp", "pacc": "cnp", "tcd+dcqcn": "cnp", "qcn": "cnm", "af-qcn": "cnm",
		"timely": "ack", "timely-patched": "ack", "tcd+timely": "ack", "hpcc": "ack", "swift": "ack", "powertcp": "ack", "ibcc": "cnp", "tcd+ibcc": "cnp", "none": "pfc",
	}
	for _, name := range scheme.Names() {
		t.Run(name, func(t *testing.T) {
			e := fig11(t)
			e.Duration, e.Measure.Queue.To, e.Measure.Steady, e.Measure.Plot = 10*units.Millisecond, 10*units.Millisecond, experiment.Span{From: 2 * units.Millisecond, To: 10 * units.Millisecond}, 0
			kinds := map[string][][]byte{}
			mu := &sync.Mutex{}
			before := build.Wrap
			build.Wrap = func(_ string, n fabric.Node, envs []*fabric.Env) fabric.Node {
				return &recorder{n, envs[0], mu, kinds}
			}
			defer func() { build.Wrap = before }()
			r, err := Replay(context.Background(), e, Options{World: "dpdk", Dilation: 20, Schemes: []string{name}})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Runs[0].Invariants; got.LostFrames != 0 || !got.ConservationOK {
				t.Errorf("%+v", got)
			}
			if r.Runs[0].PacketHops < 5_000 {
				t.Errorf("only %d packets", r.Runs[0].PacketHops)
			}
			recipe, _ := scheme.Get(name)
			notified := "cnp"
			if len(kinds[notified]) == 0 {
				notified = "cnm"
			}
			if (len(kinds[notified]) == 0) != recipe.Silent {
				t.Errorf("the recipe says silent %v, and %d %ss were captured", recipe.Silent, len(kinds[notified]), notified)
			}
			want, known := sends[name]
			if !known { // somebody's new scheme: its recipe says whether it notifies
				want = "data"
			}
			if len(kinds[want]) == 0 {
				t.Errorf("no %s was captured, only %v", want, slices.Sorted(maps.Keys(kinds)))
			}
			for kind, frames := range kinds {
				for _, wrong := range decode(t, kind, frames) {
					t.Errorf("%s: %s", kind, wrong)
				}
			}
		})
	}
}

// decode lets tshark judge frames of a kind.
func decode(t *testing.T, kind string, frames [][]byte) (wrong []string) {
	t.Helper()
	shown := slices.Clone(frames)
	if kind == "data" { // tshark has no dissector for QCN's tag: it sees what follows
		for i, b := range frames {
			var h wire.Header
			if wire.Parse(b, &h); h.CNTagged {
				shown[i] = slices.Concat(b[:12], b[12+wire.CNTagLen:])
			}
		}
	}
	rows := testnet.Tshark(t, shown, "frame.protocols", "eth.type", "macc.opcode", "infiniband.bth.opcode")
	opcodes := map[string][]string{"cnp": {"129"}, "ack": {"17"}, "data": {"0", "1", "2", "4"}}
	for i, row := range rows {
		switch kind {
		case "pfc":
			if row[1] != "0x8808" || row[2] != "0x0101" {
				wrong = append(wrong, fmt.Sprintf("%v", row))
			}
		case "cnm":
			var h wire.Header
			wire.Parse(frames[i], &h)
			m, err := cnp.DecodeCNM(frames[i], &h)
			// The tag comes first, the message's type four bytes further.
			if row[1] != "0x22e9" || err != nil || m.QntzFb == 0 || !m.Tagged {
				wrong = append(wrong, fmt.Sprintf("%v, %+v, %v", row, m, err))
			}
		default:
			if !slices.Contains(opcodes[kind], row[3]) {
				wrong = append(wrong, fmt.Sprintf("%v", row))
			}
		}
	}
	return wrong
}
