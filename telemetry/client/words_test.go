package client

import (
	"fmt"
	"net/url"
	"testing"
)

// What a command said before it ended is all that is said of it, however far the request had come by then.
func TestLastWordsStandAlone(t *testing.T) {
	err := error(lastWords("no route"))
	for _, err := range []error{
		err, &url.Error{Op: "Get", URL: "http://photon/node", Err: err},
		&url.Error{Op: "Get", URL: "http://photon/node", Err: fmt.Errorf("peeking failed: %w", err)},
	} {
		if got := unreachable("ssh h0", err).Error(); got != "ssh h0: no route" {
			t.Errorf("%v: %s", err, got)
		}
	}
}
