package main

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"

	"photon/flowtable"
)

// key is a host's: address and queue pair.
type key struct {
	ip [16]byte
	qp uint32
}

func hashKey(k key) uint64 {
	a := binary.LittleEndian.Uint64(k.ip[0:8]) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(k.ip[8:16]), 32)
	hi, lo := bits.Mul64(a^0xA0761D6478BD642F, uint64(k.qp)^0xE7037ED1A0B428DB)
	return hi ^ lo
}

// tableLine is one line of the table of tables: nanoseconds per operation, medians.
type tableLine struct {
	Entries int     `json:"entries"`
	Op      string  `json:"op"`
	Photon  float64 `json:"photon_ns"`
	Map     float64 `json:"go_map_ns"`
	RTE     float64 `json:"rte_hash_ns"`      // 0: built without DPDK
	RTEBulk float64 `json:"rte_hash_bulk_ns"` // 64 keys a call, prefetched; lookups only
}

// measureTables lets the three tables take turns.
func measureTables(sizes []int, turns int) (lines []tableLine, err error) {
	runtime.LockOSThread() // processor time is a thread's
	defer runtime.UnlockOSThread()
	for _, n := range sizes {
		random := rand.New(rand.NewPCG(7, uint64(n)))
		keys := make([]key, n)
		for i := range keys {
			keys[i] = key{ip: [16]byte{10: 0xFF, 11: 0xFF, 12: 10, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}, qp: uint32(random.IntN(1 << 24))}
		}
		order := random.Perm(n)
		shuffled := make([]key, n)
		for i, k := range order {
			shuffled[i] = keys[k]
		}
		again := max(1, 100_000/n) // small tables, several times: the clock is coarse
		var insert, lookup [4][]float64
		for range turns {
			for i, do := range []func() (in, out, bulk float64, err error){
				func() (in, out, bulk float64, err error) { return photonTable(keys, shuffled, again) },
				func() (in, out, bulk float64, err error) { return goMap(keys, shuffled, again) },
				func() (in, out, bulk float64, err error) { return rteHash(keys, shuffled, again) },
			} {
				in, out, bulk, err := do()
				if err != nil {
					return nil, fmt.Errorf("%d entries: %w", n, err)
				}
				insert[i], lookup[i] = append(insert[i], in), append(lookup[i], out)
				if i == 2 {
					lookup[3] = append(lookup[3], bulk)
				}
			}
		}
		line := func(op string, v [4][]float64) tableLine {
			l := tableLine{Entries: n, Op: op}
			for i, into := range []*float64{&l.Photon, &l.Map, &l.RTE, &l.RTEBulk} {
				if len(v[i]) > 0 && v[i][0] > 0 {
					*into, _ = median(v[i])
				}
			}
			return l
		}
		lines = append(lines, line("insert", insert), line("lookup", lookup))
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
	if missing > 0 {
		err = fmt.Errorf("photon's table lost %d keys", missing)
	}
	return in, out, 0, err
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
