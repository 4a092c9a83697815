package main

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"

	"photon/flowtable"
	"photon/lab/stat"
)

// key is made as a host's is (agent.peerKey): address and queue pair, of numbers.
type key struct {
	hi, lo half // of the address
	qp     uint32
}

// half is eight bytes of an address.
type half struct{ a, b uint32 }

func (h half) word() uint64 { return uint64(h.a) | uint64(h.b)<<32 }

// keyOf is that of a peer in 10.0.0.0/8.
func keyOf(peer, qp uint32) key {
	return key{lo: half{0xFFFF0000, bits.ReverseBytes32(10<<24 | peer)}, qp: qp}
}

func hashKey(k key) uint64 {
	a := k.hi.word() ^ bits.RotateLeft64(k.lo.word(), 32)
	hi, lo := bits.Mul64(a^0xA0761D6478BD642F, uint64(k.qp)^0xE7037ED1A0B428DB)
	return hi ^ lo
}

// together is how many keys are looked up by one call.
const together = 64

// tableLine is one line of the table of tables: nanoseconds per operation, medians.
type tableLine struct {
	Entries int     `json:"entries"`
	Op      string  `json:"op"`
	Photon  float64 `json:"photon_ns"`
	Burst   float64 `json:"photon_burst_ns"` // 64 keys a call, prefetched; lookups only
	Map     float64 `json:"go_map_ns"`
	RTE     float64 `json:"rte_hash_ns"`      // 0: built without DPDK
	RTEBulk float64 `json:"rte_hash_bulk_ns"` // as Burst
	turns   map[string][]float64
}

// measureTables lets the three tables take turns.
func measureTables(sizes []int, turns int) (lines []tableLine, err error) {
	runtime.LockOSThread() // processor time is a thread's
	defer runtime.UnlockOSThread()
	for _, n := range sizes {
		random := rand.New(rand.NewPCG(7, uint64(n)))
		keys := make([]key, n)
		for i := range keys {
			keys[i] = keyOf(uint32(i), uint32(random.IntN(1<<24)))
		}
		order := random.Perm(n)
		shuffled := make([]key, n)
		for i, k := range order {
			shuffled[i] = keys[k]
		}
		again := max(1, 100_000/n) // small tables, several times: the clock is coarse
		var insert, lookup, bulk [3][]float64
		for range turns {
			for i, of := range []func(keys, shuffled []key, again int) (in, out, bulk float64, err error){
				photonTable, goMap, rteHash,
			} {
				in, out, many, err := of(keys, shuffled, again)
				if err != nil {
					return nil, fmt.Errorf("%d entries: %w", n, err)
				}
				insert[i], lookup[i], bulk[i] = append(insert[i], in), append(lookup[i], out), append(bulk[i], many)
			}
		}
		lines = append(lines,
			tableLine{Entries: n, Op: "insert", Photon: stat.Median(insert[0]), Map: stat.Median(insert[1]), RTE: stat.Median(insert[2]),
				turns: map[string][]float64{"photon": insert[0], "map": insert[1], "rte_hash": insert[2]}},
			tableLine{
				Entries: n, Op: "lookup", Photon: stat.Median(lookup[0]), Burst: stat.Median(bulk[0]),
				Map: stat.Median(lookup[1]), RTE: stat.Median(lookup[2]), RTEBulk: stat.Median(bulk[2]),
				turns: map[string][]float64{"photon": lookup[0], "map": lookup[1], "rte_hash": lookup[2], "photon-64": bulk[0], "rte_hash-64": bulk[2]},
			})
	}
	return lines, nil
}

func photonTable(keys, shuffled []key, again int) (in, out, bulk float64, err error) {
	tables := make([]*flowtable.Table[key], again)
	for i := range tables {
		tables[i] = flowtable.New(len(keys), hashKey)
	}
	begin := processorTime()
	for _, t := range tables {
		for _, k := range keys {
			t.Insert(k, 1)
		}
	}
	in = float64(processorTime()-begin) / float64(again*len(keys))
	missing := 0
	begin = processorTime()
	for _, t := range tables {
		for _, k := range shuffled {
			if t.Lookup(k) == flowtable.None {
				missing++
			}
		}
	}
	out = float64(processorTime()-begin) / float64(again*len(keys))
	var slots [together]int
	begin = processorTime()
	for _, t := range tables {
		for some := range slices.Chunk(shuffled, together) {
			t.LookupBurst(some, slots[:])
			for _, s := range slots[:len(some)] {
				if s == flowtable.None {
					missing++
				}
			}
		}
	}
	bulk = float64(processorTime()-begin) / float64(again*len(keys))
	if missing > 0 {
		err = fmt.Errorf("photon's table lost %d keys", missing)
	}
	return in, out, bulk, err
}

func goMap(keys, shuffled []key, again int) (in, out, bulk float64, err error) {
	maps := make([]map[key]int32, again)
	for i := range maps {
		maps[i] = make(map[key]int32, len(keys))
	}
	begin := processorTime()
	for _, m := range maps {
		for i, k := range keys {
			m[k] = int32(i)
		}
	}
	in = float64(processorTime()-begin) / float64(again*len(keys))
	missing := 0
	begin = processorTime()
	for _, m := range maps {
		for _, k := range shuffled {
			if _, ok := m[k]; !ok {
				missing++
			}
		}
	}
	out = float64(processorTime()-begin) / float64(again*len(keys))
	if missing > 0 {
		err = fmt.Errorf("the map lost %d keys", missing)
	}
	return in, out, 0, err
}
