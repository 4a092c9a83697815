package daemon

import (
	"runtime"
	"testing"

	"photon/fabric"
)

func (w *still) Tap(_ fabric.End, t *fabric.Tap) { w.tap = t }

// A port is removed or captured, not both: a capture that is asked for while a reload removes the port finds none.
func TestCaptureOfAPortThatGoes(t *testing.T) {
	for range 100 {
		x := newLinked(t, "")
		end, err := x.change()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, stop, err := x.capture("sw1", 64)
			if err == nil {
				stop()
			}
			done <- err
		}()
		for range 100 {
			runtime.Gosched()
		}
		x.setNames("sw0")
		end()
		if err := <-done; err == nil {
			t.Fatal("a port that is removed is captured")
		}
	}
}

// The priority of a frame in a capture is that in which the switch has it: by the maps of the port that it came
// through, whatever those of the port say by which it leaves, and whether or not its tag is still there. MAC control
// has none.
func TestCaptureHasThePriorityOfTheQueue(t *testing.T) {
	x := newLinkedOf(t, "ports:\n- {device: '0000:03:00.0', trust: pcp}\n"+
		"- {device: '0000:03:00.1', trust: none, default_priority: 1}\n"+
		"vlans: [{id: 10, tagged: [0], untagged: [1]}]\n"+
		"forwarding: {static: [{mac: '02:00:00:00:00:09', port: 1}]}\n")
	const length = 100
	_, stop, err := x.capture("sw1", 64)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for prio := range byte(8) {
		f, _ := x.env.Alloc(length)
		copy(x.env.Header(f), []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7, 0x81, 0, prio << 5, 10, 0x88, 0xB5})
		x.sw.Receive(x.world.now, 0, []fabric.Frame{f})
	}
	var out [9]fabric.Frame
	if n := x.sw.Transmit(x.world.now, 1, out[:]); n != 8 {
		t.Fatalf("%d frames leave", n)
	}
	pause, _ := x.env.Alloc(60)
	copy(x.env.Header(pause), []byte{1, 0x80, 0xC2, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x88, 0x08, 1, 1})
	out[8] = pause
	x.world.tap.Copy(x.world.now, true, x.env.Pool, out[:])
	x.world.tap.Copy(x.world.now, false, x.env.Pool, []fabric.Frame{out[0], pause})
	for _, want := range []int{7, 6, 5, 4, 3, 2, 1, 0, -1, 1, -1} { // strict priorities; what comes through sw1 is of 1
		if !x.world.tap.Take(func(f *fabric.Tapped) {
			if f.Priority != want {
				t.Errorf("a frame of priority %d (sent: %v) is said to be of %d", want, f.Out, f.Priority)
			}
		}) {
			t.Error("a frame is missing")
		}
	}
}
