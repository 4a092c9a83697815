// Package site is the page of replays that run, as HTTP answers it. What runs them keeps what
// it shows (package live), and knows nothing of HTTP.
package site

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"

	"photon/lab/web"
	"photon/telemetry/page"
)

// mostAsked is how many runs an answer has lines of.
const mostAsked = 40

// Status is what the page shows.
type Status interface {
	Command() string                        // that runs
	State(id string) any                    // the document of an experiment; an empty id: of the one that is at work
	Traces(run, from int, details bool) any // what was seen of a run from a span on; nil: there is no such run, or nothing was
	ReportFile(anchor string) (path string) // of an experiment; empty: there is none
}

// handler answers the requests of the page.
type handler struct{ Status }

// Of is the page of a status.
func Of(shown Status) *page.Site {
	b := handler{shown}
	return &page.Site{
		Title: "photon: " + b.Command(), Script: web.StatusScript, Order: []string{"status.js"},
		Answer: map[string]func(*http.Request) page.Answer{"/state": b.answerState, "/seen": b.answerSeen, "/report/{of}": b.answerReport},
	}
}

func document(v any) page.Answer {
	body, err := json.Marshal(v)
	if err != nil {
		return refused(http.StatusInternalServerError, err.Error())
	}
	return page.Answer{Body: body}
}

func refused(status int, why string) page.Answer {
	return page.Answer{Type: "text/plain; charset=utf-8", Body: []byte(why + "\n"), Status: status}
}

func (b handler) answerState(r *http.Request) page.Answer {
	return document(b.State(r.FormValue("of")))
}

// answerSeen answers what was seen of runs: `runs` is a list of their numbers and
// of how many spans are known already, as in 3:120,4:0, and `details` the one all
// of whose lines are wanted.
func (b handler) answerSeen(r *http.Request) page.Answer {
	answer := map[string]any{}
	details := r.FormValue("details")
	asked := strings.Split(r.FormValue("runs"), ",")
	if len(asked) > mostAsked {
		return refused(http.StatusBadRequest, "runs: at most "+strconv.Itoa(mostAsked))
	}
	for _, text := range asked {
		number, known, _ := strings.Cut(text, ":")
		n, err := strconv.Atoi(number)
		from, err2 := strconv.Atoi(known)
		if err != nil || err2 != nil {
			return refused(http.StatusBadRequest, "runs: numbers of runs, and of spans that are known, as in 3:120,4:0")
		}
		if seen := b.Traces(n, from, number == details); seen != nil {
			answer[number] = seen
		}
	}
	return document(answer)
}

func (b handler) answerReport(r *http.Request) page.Answer {
	path := b.ReportFile(r.PathValue("of"))
	if path == "" {
		return refused(http.StatusNotFound, "there is no such report, or not yet")
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return refused(http.StatusNotFound, err.Error())
	}
	return page.Answer{Type: "text/html; charset=utf-8", Body: body, Inline: true}
}
