package htsim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"photon/config"
	"photon/units"
)

// Matrix is a connection matrix.
type Matrix struct {
	File        string
	Nodes       int
	Connections []Connection
	Triggers    []Trigger
	Skipped     []string // what the file asks for and is not done, each with its place
}

// Connection is a flow from a host to another, by their places among the hosts.
type Connection struct {
	ID       int // 0: it has none
	From, To int
	Size     units.Size
	Start    units.Time // unless it has a Trigger
	Trigger  int        // by its id; 0: it starts at Start
	SendDone int        // trigger that is activated by its last acknowledgement; 0: none
	RecvDone int        // and when its receiver has all of it
	Line     int
}

// Trigger starts the connections that name it.
type Trigger struct {
	ID    int
	Kind  string // oneshot, multishot or barrier
	Count int    // of a barrier: activations that it needs
	Line  int
}

// Bounds of what a file may ask for.
const (
	mostNodes       = 1 << 16
	mostConnections = 1 << 23
	mostTime        = 1000 * units.Second
)

// Read reads a connection matrix. file is for errors.
func Read(file string, b []byte) (*Matrix, error) {
	m := &Matrix{File: file}
	r := reader{m: m, triggers: map[int]int{}, ids: map[int]bool{}}
	for i, l := range strings.Split(config.Text(b), "\n") {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		r.words, r.line = strings.Fields(l), i+1
		if err := r.read(); err != nil {
			return nil, &config.Error{File: file, Line: i + 1, Err: err}
		}
	}
	if line, err := r.end(); err != nil {
		return nil, &config.Error{File: file, Line: line, Err: err}
	}
	for i, s := range m.Skipped {
		m.Skipped[i] = file + ":" + s
	}
	return m, nil
}

type reader struct {
	m                                       *Matrix
	words                                   []string
	line                                    int
	connections, triggersAnnounced, failing int // announced
	announced                               map[string]bool
	failures                                int
	triggers                                map[int]int // by id: place
	ids                                     map[int]bool
}

// next takes a word, and number a whole number in bounds.
func (r *reader) next(what string) (string, error) {
	if len(r.words) == 0 {
		return "", fmt.Errorf("%s is missing", what)
	}
	w := r.words[0]
	r.words = r.words[1:]
	return w, nil
}

func (r *reader) number(what string, least, most int64) (int64, error) {
	w, err := r.next(what)
	if err != nil {
		return 0, err
	}
	return whole(w, what, least, most)
}

func whole(w, what string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s %q: a whole number from %d to %d", what, w, least, most)
	}
	return n, nil
}

func (r *reader) read() error {
	first, _ := r.next("a word")
	switch first {
	case "Nodes":
		return r.count(first, &r.m.Nodes, 2, mostNodes)
	case "Connections":
		return r.count(first, &r.connections, 0, mostConnections)
	case "Triggers":
		return r.count(first, &r.triggersAnnounced, 0, mostConnections)
	case "Failures":
		return r.count(first, &r.failing, 0, mostConnections)
	}
	if !r.announced["Nodes"] || !r.announced["Connections"] {
		return fmt.Errorf("%q before the header: Nodes and Connections come first", first)
	}
	switch {
	case first == "trigger":
		return r.trigger()
	case first == "failure":
		r.failures++
		r.m.Skipped = append(r.m.Skipped, fmt.Sprintf("%d: failures of links are not followed (docs/experiments.md: events)", r.line))
		return nil
	case strings.Contains(first, "->"):
		return r.connection(first)
	}
	return fmt.Errorf("%q: neither a connection (0->1 ...), nor trigger, nor failure", first)
}

// count reads a line of the header.
func (r *reader) count(what string, n *int, least, most int64) error {
	if r.announced == nil {
		r.announced = map[string]bool{}
	}
	if r.announced[what] {
		return fmt.Errorf("%s is there twice", what)
	}
	r.announced[what] = true
	v, err := r.number(what, least, most)
	if err == nil && len(r.words) > 0 {
		err = fmt.Errorf("%q behind the number of %s", r.words[0], what)
	}
	*n = int(v)
	return err
}

func (r *reader) trigger() error {
	t := Trigger{Line: r.line, Count: 1}
	counted := false
	for len(r.words) > 0 {
		key, _ := r.next("")
		var err error
		var v int64
		switch key {
		case "id":
			v, err = r.number("a trigger's id", 1, mostConnections)
			t.ID = int(v)
		case "oneshot", "multishot", "barrier":
			if t.Kind != "" {
				err = fmt.Errorf("a trigger is either %s or %s", t.Kind, key)
			}
			t.Kind = key
		case "count":
			v, err = r.number("a barrier's count", 1, mostConnections)
			t.Count, counted = int(v), true
		default:
			err = fmt.Errorf("a trigger has no %q (id, oneshot, multishot, barrier, count)", key)
		}
		if err != nil {
			return err
		}
	}
	switch _, twice := r.triggers[t.ID]; {
	case t.ID == 0:
		return errors.New("a trigger needs an id")
	case t.Kind == "":
		return errors.New("a trigger is oneshot, multishot or barrier")
	case t.Kind == "barrier" && !counted:
		return errors.New("a barrier needs a count")
	case counted && t.Kind != "barrier":
		return errors.New("count is of barriers")
	case twice:
		return fmt.Errorf("trigger %d is there twice", t.ID)
	}
	r.triggers[t.ID] = len(r.m.Triggers)
	r.m.Triggers = append(r.m.Triggers, t)
	return nil
}

func (r *reader) connection(ends string) error {
	c := Connection{Line: r.line}
	from, to, _ := strings.Cut(ends, "->")
	for _, end := range []struct {
		text string
		at   *int
	}{{from, &c.From}, {to, &c.To}} {
		v, err := whole(end.text, "host", 0, int64(r.m.Nodes)-1)
		if err != nil {
			return err
		}
		*end.at = int(v)
	}
	if c.From == c.To {
		return fmt.Errorf("a connection from host %d to itself", c.From)
	}
	seen := map[string]bool{}
	for len(r.words) > 0 {
		key, _ := r.next("")
		if seen[key] {
			return fmt.Errorf("%s is there twice", key)
		}
		seen[key] = true
		var err error
		var v int64
		switch key {
		case "id":
			v, err = r.number("id", 1, mostConnections)
			c.ID = int(v)
		case "start":
			v, err = r.number("start", 0, int64(mostTime))
			c.Start = units.Time(v)
		case "trigger":
			v, err = r.number("trigger", 1, mostConnections)
			c.Trigger = int(v)
		case "size":
			v, err = r.number("size", 1, 1<<40)
			c.Size = units.Size(v)
		case "send_done_trigger":
			v, err = r.number(key, 1, mostConnections)
			c.SendDone = int(v)
		case "recv_done_trigger":
			v, err = r.number(key, 1, mostConnections)
			c.RecvDone = int(v)
		case "msg", "prio":
			if _, err = r.number(key, 0, 1<<40); err == nil && len(r.m.Skipped) < 10 {
				r.m.Skipped = append(r.m.Skipped, fmt.Sprintf("%d: %s is not followed", r.line, key))
			}
		default:
			err = fmt.Errorf("a connection has no %q (id, start, trigger, size, send_done_trigger, recv_done_trigger)", key)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case seen["start"] == seen["trigger"]:
		return errors.New("a connection has either a start or a trigger")
	case !seen["size"]:
		return errors.New("a connection needs a size")
	case c.ID == 0 && (c.Trigger != 0 || c.SendDone != 0 || c.RecvDone != 0):
		return errors.New("a connection with a trigger needs an id")
	case r.ids[c.ID]:
		return fmt.Errorf("id %d is there twice", c.ID)
	}
	if c.ID > 0 {
		r.ids[c.ID] = true
	}
	r.m.Connections = append(r.m.Connections, c)
	return nil
}

// end finds what is missing, and triggers that nothing has.
func (r *reader) end() (line int, err error) {
	m := r.m
	switch {
	case !r.announced["Nodes"] || !r.announced["Connections"]:
		return 0, errors.New("there is no header: Nodes and Connections")
	case len(m.Connections) != r.connections:
		return 0, fmt.Errorf("%d connections are announced, and there are %d", r.connections, len(m.Connections))
	case len(m.Triggers) != r.triggersAnnounced:
		return 0, fmt.Errorf("%d triggers are announced, and there are %d", r.triggersAnnounced, len(m.Triggers))
	case r.failures != r.failing:
		return 0, fmt.Errorf("%d failures are announced, and there are %d", r.failing, r.failures)
	case len(m.Connections) == 0:
		return 0, errors.New("there are no connections")
	}
	activated, shots := map[int]int{}, map[int]int{}
	for i := range m.Connections {
		c := &m.Connections[i]
		for _, id := range []int{c.Trigger, c.SendDone, c.RecvDone} {
			if _, ok := r.triggers[id]; id != 0 && !ok {
				return c.Line, fmt.Errorf("there is no trigger %d", id)
			}
		}
		activated[c.SendDone]++
		activated[c.RecvDone]++
	}
	for i := range m.Connections {
		c := &m.Connections[i]
		if c.Trigger == 0 {
			continue
		}
		t := &m.Triggers[r.triggers[c.Trigger]]
		need := t.Count
		if t.Kind == "multishot" {
			shots[t.ID]++
			need = shots[t.ID]
		}
		switch n := activated[t.ID]; {
		case n == 0:
			return c.Line, fmt.Errorf("nothing activates trigger %d: the connection would never start", t.ID)
		case n < need:
			return c.Line, fmt.Errorf("trigger %d is activated %d times at most, and needs %d: "+
				"the connection would never start", t.ID, n, need)
		}
	}
	return r.circle()
}

// circle finds connections that never start because what activates their triggers waits for them.
func (r *reader) circle() (line int, err error) {
	m := r.m
	waiting := make([][]int, len(m.Triggers)) // by place of the trigger
	got, started := make([]int, len(m.Triggers)), make([]bool, len(m.Connections))
	var queue []int
	start := func(list ...int) {
		for _, i := range list {
			started[i] = true
		}
		queue = append(queue, list...)
	}
	for i := range m.Connections {
		if id := m.Connections[i].Trigger; id != 0 {
			waiting[r.triggers[id]] = append(waiting[r.triggers[id]], i)
		} else {
			start(i)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		c := &m.Connections[queue[0]]
		for _, id := range [...]int{c.SendDone, c.RecvDone} {
			if id == 0 {
				continue
			}
			k := r.triggers[id]
			got[k]++
			switch t := &m.Triggers[k]; {
			case t.Kind != "multishot" && got[k] == t.Count:
				start(waiting[k]...)
			case t.Kind == "multishot" && got[k] <= len(waiting[k]):
				start(waiting[k][got[k]-1])
			}
		}
	}
	for i := range m.Connections {
		if c := &m.Connections[i]; !started[i] {
			return c.Line, fmt.Errorf("the connection would never start: what activates trigger %d waits for it", c.Trigger)
		}
	}
	return 0, nil
}
