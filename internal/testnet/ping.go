package testnet

import (
	"fmt"
	"strings"
	"testing"
)

// Ping sends so many echo requests to an address, each when the one before has been answered, and returns what ping
// says of the first without an answer. Further arguments are ping's; without them it waits for five seconds.
//
// One ping that sends several waits for the others, once it has an answer, only as long as it takes two, or from one
// request to the next. On a busy machine that is too short.
func (n *Namespace) Ping(t testing.TB, requests int, to string, args ...string) (missing string) {
	t.Helper()
	args = append([]string{"-c", "1", "-W", "5", to}, args...)
	for i := range requests {
		out, err := n.Command("ping", args...).CombinedOutput()
		switch text := string(out); {
		case strings.Contains(text, " 0% packet loss"):
		case err != nil && !strings.Contains(text, "packet loss"):
			t.Fatalf("ping: %v\n%s", err, text)
		default:
			return fmt.Sprintf("request %d of %d: %s", i+1, requests, text)
		}
	}
	return ""
}
