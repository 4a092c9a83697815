//go:build dpdk

package dpdk

import (
	"context"
	"math"
	"testing"
	"time"

	"photon/fabric"
	"photon/units"
)

// A second of a world is one of the kernel's: DPDK's own rate of the time stamp counter, rounded to 10 MHz, is up to half
// a percent off. On a busy machine some of the intervals are wrong; the best of them counts.
func TestWorldKeepsTheKernelsTime(t *testing.T) {
	w := newWorld(t, Options{Sleep: 20 * units.Microsecond})
	device, err := w.Open("net_null0,no-rx=1", 1500)
	if err != nil {
		t.Fatal(err)
	}
	envs := w.NewEnvs(1)
	node := &offers{talker: talker{env: envs[0]}}
	if err := w.Attach(fabric.End{Node: w.Add("clock", node, envs, []int{0}), Port: 0}, device, fabric.Link{Rate: units.Gbps}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, units.Never) }()
	look := func() (wall time.Time, now units.Time) {
		w.DoBriefly(func(at units.Time) { wall, now = time.Now(), at })
		return wall, now
	}
	best := math.Inf(1)
	for range 10 {
		wall, now := look()
		time.Sleep(300 * time.Millisecond)
		wall2, now2 := look()
		if off := math.Abs((now2-now).Duration().Seconds()/wall2.Sub(wall).Seconds() - 1); off < best {
			best = off
		}
		if best < 0.0003 {
			break
		}
	}
	stop()
	<-ended
	if best > 0.0005 {
		t.Errorf("the world's clock is %.3f %% off", 100*best)
	}
}
