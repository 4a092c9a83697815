package impair

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// waiting is a frame that the twin holds back.
type waiting struct {
	mark   byte
	until  units.Time
	behind int
}

// Frames come to a port one by one, at any times, and the node gets them as a list of what is to become of each says,
// which is slow and short. No frame is left in memory when all is over.
func TestFramesAreAsInAList(t *testing.T) {
	const slots = 48
	rapid.Check(t, func(t *rapid.T) {
		var all []Rule
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			r := Rule{Do: rapid.SampledFrom([]Action{Lose, Duplicate, Reorder, Delay}).Draw(t, "do")}
			r.Numbers = rapid.SliceOfNDistinct(rapid.Uint64Range(1, 40), 1, 12, rapid.ID[uint64]).Draw(t, "numbers")
			switch r.Do {
			case Reorder:
				r.Behind = rapid.IntRange(1, 4).Draw(t, "behind")
			case Delay:
				r.By = units.Time(rapid.IntRange(1, 9).Draw(t, "by")) * units.Microsecond
			}
			all = append(all, r)
		}
		pool := fabric.NewPool(make([]byte, 1<<20), 2048, 128, func(*fabric.Pool) {})
		var free []uint32
		for i := range slots {
			free = append(free, uint32(i*2048/64))
		}
		pool.SetSlots(free)
		env := fabric.NewEnv(pool, 1)
		n := &taker{env: env}
		x := New(n, []*fabric.Env{env}, []int{0}, map[int]Spec{0: rules(all...)}, func(int, []byte) int { return 3 })

		var held []waiting
		want := ""
		var lost, twice, reordered, delayed uint64
		pass := func(mark byte) {
			want += string(rune(mark))
			for i := 0; i < len(held); i++ {
				if held[i].behind--; held[i].behind == 0 {
					want += string(rune(held[i].mark))
					held = slices.Delete(held, i, i+1)
					i--
				}
			}
		}
		now := units.Time(0)
		for number := uint64(1); number <= 40; number++ {
			now += units.Time(rapid.IntRange(0, 3).Draw(t, "later")) * units.Microsecond
			for i := 0; i < len(held); i++ { // what is due goes first
				if held[i].until <= now {
					want += string(rune(held[i].mark))
					held = slices.Delete(held, i, i+1)
					i--
				}
			}
			if x.Next(now, 0) <= now {
				x.Transmit(now, 0, nil)
			}
			mark := byte('0' + number)
			f, ok := env.Alloc(64)
			if !ok {
				t.Fatalf("no memory for frame %d", number)
			}
			b := env.Bytes(&f)
			clear(b)
			b[12], b[13], b[len(b)-1] = 0x88, 0xB5, mark
			x.Receive(now, 0, []fabric.Frame{f})
			switch i := slices.IndexFunc(all, func(r Rule) bool { return slices.Contains(r.Numbers, number) }); {
			case i < 0:
				pass(mark)
			case all[i].Do == Lose:
				lost++
			case all[i].Do == Duplicate:
				twice++
				pass(mark)
				pass(mark)
			case all[i].Do == Reorder:
				reordered++
				held = append(held, waiting{mark, now + units.Millisecond, all[i].Behind})
			case all[i].Do == Delay:
				delayed++
				held = append(held, waiting{mark, now + all[i].By, -1})
			}
			c := x.Stats(now).Ports[0].Impaired
			if got := string(n.frames); got != want || c.DelayedNow != uint64(len(held)) {
				t.Fatalf("after frame %d: %s and %d held back, not %s and %d",
					number, got, c.DelayedNow, want, len(held))
			}
			if c.Lost != lost || c.Duplicated != twice || c.Reordered != reordered || c.Delayed != delayed {
				t.Fatalf("counted %+v", c)
			}
		}
		x.Close()
		for i := range slots {
			if _, ok := env.Alloc(64); !ok {
				t.Fatalf("%d of %d frames are free at the end", i, slots)
			}
		}
	})
}
