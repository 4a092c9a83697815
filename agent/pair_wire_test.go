//go:build linux

package agent

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"photon/internal/testnet"
	"photon/units"
)

// What the ends of a connection say to each other, as tshark reads it: opcodes, PSNs, padding, which memory is meant, what is
// acknowledged, and nothing that is malformed.
func TestPairsOnTheWire(t *testing.T) {
	for name, c := range map[string]struct {
		verb     Verb
		size     units.Size
		messages int
		want     string // opcode, PSN, padding, address, key, length, MSN; of both ends
	}{
		"WRITE of 601 bytes": {Write, 601, 1, `
6 16777214 0 0x0000000000170003 0x00001001 601
7 16777215 0
8 0 3
17 0 0 1`},
		"SENDs of nothing and of 2": {Send, 2, 2, `
4 16777214 2
4 16777215 2
17 16777215 0 2`},
		"READ of 257 bytes": {Read, 257, 1, `
12 16777214 0 0x0000000000170003 0x00001001 257
13 16777214 0 1
15 16777215 3 1`},
		"WRITE of nothing": {Write, 0, 1, `
10 16777214 0 0x0000000000170003 0x00001001 0
17 16777214 0 1`},
	} {
		k := newTalk(t.Fatalf, rand.New(rand.NewPCG(1, 1)), 256, 0)
		k.memory[1].Address = 0x17_0003
		var frames [][]byte
		k.lost = func(b []byte) bool { frames = append(frames, slices.Clone(b)); return false }
		k.psn = [2]uint32{1<<24 - 2, 9}
		*k.pairs[0] = Pair{Verb: c.verb, Size: c.size, Messages: c.messages}
		*k.pairs[1] = Pair{}
		k.begin(256, true)
		k.run(units.Second)
		if k.ended[0] != 1 {
			t.Fatalf("%s: it does not end", name)
		}
		var got strings.Builder
		for _, row := range testnet.Tshark(t, frames, "infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.padcnt",
			"infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen", "infiniband.aeth.msn") {
			row = slices.DeleteFunc(row, func(s string) bool { return s == "" })
			fmt.Fprintf(&got, "\n%s", strings.Join(row, " "))
		}
		if got.String() != c.want {
			t.Errorf("%s:%s\nnot%s", name, got.String(), c.want)
		}
	}
}
