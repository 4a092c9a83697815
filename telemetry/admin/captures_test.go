package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"photon/wire"
)

// The longest frame there is can be kept whole, and no more can be asked for.
func TestWholeFramesAreKept(t *testing.T) {
	const longest = 9216 + wire.EthernetLen + 2*wire.VLANLen
	a, err := Listen(filepath.Join(t.TempDir(), "a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	kept := -1
	a.Captures(func(_ string, snap int) (Stream, func(), error) {
		kept = snap
		return func(context.Context, io.Writer, func() error) error { return errors.New("nothing to see") }, func() {}, nil
	})
	for _, snap := range []int{1, longest, longest + 1, 0} {
		kept = -1
		a.mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", fmt.Sprintf("/capture?port=sw0&snap=%d", snap), nil))
		if taken := snap > 0 && snap <= longest; taken != (kept == snap) {
			t.Errorf("%d bytes of each frame: %d are kept (-1: refused)", snap, kept)
		}
	}
}
