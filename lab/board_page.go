package lab

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

// Site is the page of the board.
func (b *Board) Site() *page.Site {
	return &page.Site{
		Title: "photon: " + b.command, Script: web.Board, Order: []string{"board.js"},
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

func (b *Board) answerState(r *http.Request) page.Answer { return document(b.state(r.FormValue("of"))) }

// answerSeen answers what was seen of runs: `runs` is a list of their numbers and
// of how many spans are known already, as in 3:120,4:0, and `details` the one all
// of whose lines are wanted.
func (b *Board) answerSeen(r *http.Request) page.Answer {
	answer := map[string]seen{}
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
		if l := b.looks(n); l != nil {
			answer[number] = l.tell(from, number == details)
		}
	}
	return document(answer)
}

func (b *Board) answerReport(r *http.Request) page.Answer {
	path := b.report(r.PathValue("of"))
	if path == "" {
		return refused(http.StatusNotFound, "there is no such report, or not yet")
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return refused(http.StatusNotFound, err.Error())
	}
	return page.Answer{Type: "text/html; charset=utf-8", Body: body, Inline: true}
}
