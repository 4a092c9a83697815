package agent_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/agent"
	"photon/dataplane"
	"photon/units"
)

// A new flow finds room at its first frame as long as a flow is silent for longer than age, or one is not paced at all,
// wherever in the table those are, and whatever the others do.
func TestNICFlowsMakeRoomAtOnce(t *testing.T) {
	made, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		flows := rapid.SampledFrom([]int{1, 3, 64}).Draw(r, "flows")
		b := newBench(t, func(c *agent.NICConfig) { c.Flows = flows })
		lossy := rapid.IntRange(0, 4).Draw(r, "lossy")
		plain := func(flow int) bool { return flow%5 < lossy }
		var order, times []int // of the flows in the table, the one that sent last behind the others; when it did
		send := func(flow int) {
			dscp := uint8(dscp26)
			if plain(flow) {
				dscp = 0
			}
			if at := slices.Index(order, flow); at >= 0 {
				order, times = slices.Delete(order, at, at+1), slices.Delete(times, at, at+1)
			}
			was := b.discards(agent.Application, dataplane.DropTable)
			b.receive(agent.Application, udpFrame(t, 1, 2, uint16(1000+flow), 6, dscp, 100))
			b.transmitAll()
			room := len(order) < flows
			for _, kind := range []bool{false, true} {
				for i := 0; i < len(order) && !room; i++ {
					if plain(order[i]) == kind && (kind || int(b.now)-times[i] > int(units.Second)) {
						order, times = slices.Delete(order, i, i+1), slices.Delete(times, i, i+1)
						room = true
						made++
					}
				}
			}
			lost := b.discards(agent.Application, dataplane.DropTable) - was
			if want := !room && !plain(flow); (lost == 1) != want {
				r.Fatalf("flow %d, %d of %d places taken: frames discarded: %d, want %v", flow, len(order), flows, lost, want)
			}
			if lost == 1 {
				refused++
			}
			if room {
				order, times = append(order, flow), append(times, int(b.now))
			}
			if n := b.stats().NIC.Flows; n != len(order) {
				r.Fatalf("%d flows in the table, want %d", n, len(order))
			}
		}
		next := 0
		for range rapid.IntRange(1, 20).Draw(r, "rounds") {
			b.now += units.Time(rapid.IntRange(0, 700).Draw(r, "after")) * ms
			on := rapid.Uint64().Draw(r, "which go on")
			for i, flow := range slices.Clone(order) {
				if on>>i&1 != 0 {
					send(flow)
				}
			}
			for range rapid.IntRange(0, 70).Draw(r, "new") {
				send(next)
				next++
			}
		}
	})
	if made < 1000 || refused < 1000 {
		t.Errorf("%d flows made room, %d frames were refused: too few to say anything", made, refused)
	}
}
