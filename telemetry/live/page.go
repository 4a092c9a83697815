package live

import (
	"embed"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"photon/telemetry"
	"photon/telemetry/page"
	"photon/telemetry/socket"
)

//go:embed page.js
var liveScript embed.FS

// shownLive is how many flows of an agent the page lists.
const shownLive = 30

// liveEvery is how often the node is asked at most, however many look.
var liveEvery = 200 * time.Millisecond

// Page is a page that shows the node at work. It asks the node when somebody
// looks, and only then; all who look get the same answer for a while.
func Page(name string, s *telemetry.Source) *page.Site {
	var mu sync.Mutex // of those who look: no worker waits for it
	var asked time.Time
	var document []byte
	return &page.Site{
		Title: name + " – photon", Script: liveScript, Order: []string{"page.js"},
		Answer: map[string]func(*http.Request) page.Answer{socket.Live: func(*http.Request) page.Answer {
			mu.Lock()
			defer mu.Unlock()
			if document == nil || time.Since(asked) >= liveEvery {
				document, _ = json.Marshal(Take(s, shownLive)) // numbers and texts
				asked = time.Now()
			}
			return page.Answer{Body: document}
		}},
	}
}
