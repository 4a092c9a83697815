package daemon

import (
	"runtime"
	"testing"

	"photon/fabric"
)

func (w *still) Tap(fabric.End, *fabric.Tap) {}

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
