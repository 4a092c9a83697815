package testnet

import (
	"fmt"
	"strings"
	"testing"
)

// Ping sends so many echo requests, one after the other at once, and returns what ping says if one of them has no answer:
// within ten seconds, or within five if none has one. Further arguments are ping's.
//
// Once it has an answer ping waits for the others only as long as it takes two, or from one request to the next. On a
// busy machine that is too short; here the next request would come after ten seconds.
func (n *Namespace) Ping(t testing.TB, requests int, to string, args ...string) (missing string) {
	t.Helper()
	count := fmt.Sprint(requests)
	args = append([]string{"-c", count, "-l", count, "-i", "10", "-W", "5", to}, args...)
	out, err := n.Command("ping", args...).CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, " 0% packet loss"):
		return ""
	case err != nil && !strings.Contains(text, "packet loss"):
		t.Fatalf("ping: %v\n%s", err, text)
		return ""
	default:
		return text
	}
}
