//go:build e1000e || rxe

package guest

import (
	"testing"
	"time"
)

// eventually waits for something that comes in its own time.
func eventually(t *testing.T, ok func() bool, otherwise func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise())
		}
	}
}
