package top

import (
	"context"
	"fmt"
	"strings"
	"time"

	"photon/telemetry/live"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Ask asks the node; flows is how many of an agent's are wanted.
type Ask func(ctx context.Context, flows int) (*live.Node, error)

// Flows is how many flows are asked for: more than any terminal has lines.
const Flows = 200

// Run draws the view until the user quits, or the context ends.
func Run(ctx context.Context, ask Ask, every time.Duration, o Options, with ...tea.ProgramOption) error {
	at, err := o.find()
	if err != nil {
		return err
	}
	m := &model{ctx: ctx, ask: ask, every: every, order: at, options: o, width: minWidth, height: 24}
	p := tea.NewProgram(m, append(with, tea.WithoutSignalHandler())...)
	// Signals end the context, and that quits as the key does: the library then waits for who reads keys before it closes
	// the terminal.
	defer context.AfterFunc(ctx, p.Quit)()
	_, err = p.Run()
	if ctx.Err() != nil {
		return nil // the user quit
	}
	return err
}

// model is the state of the screen.
type model struct {
	ctx     context.Context
	ask     Ask
	every   time.Duration
	options Options
	order   int
	frozen  bool
	help    bool
	first   int // line of the table that is on top
	width   int
	height  int

	last *live.Node
	view *View
	err  error
}

// looked is an answer of the node.
type looked struct {
	live *live.Node
	err  error
}

// due says that it is time for the next request.
type due struct{}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.fetch }

// patience is how long an answer may take before the screen says that there is none: it shows what was.
const patience = 3 * time.Second

func (m *model) fetch() tea.Msg {
	ctx, cancel := context.WithTimeout(m.ctx, patience)
	defer cancel()
	live, err := m.ask(ctx, Flows)
	return looked{live, err}
}

func (m *model) wait(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return due{} })
}

// atOnce is how soon the second look follows the first, without which there are
// no rates.
const atOnce = 200 * time.Millisecond

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case due:
		return m, m.fetch
	case looked:
		every := m.every
		if m.err = msg.err; msg.err == nil {
			if m.last == nil {
				m.last, every = msg.live, min(every, atOnce)
			}
			if !m.frozen {
				m.view = Compare(m.last, msg.live)
			}
			m.last = msg.live
		}
		return m, m.wait(every)
	}
	return m, nil
}

func (m *model) key(k string) tea.Cmd {
	page := max(1, m.height-fixedLines)
	switch k {
	case "q", "ctrl+c", "esc":
		return tea.Quit
	case "space", "f":
		m.frozen = !m.frozen
	case "s", "right":
		m.order = (m.order + 1) % len(sortings)
	case "S", "left":
		m.order = (m.order + len(sortings) - 1) % len(sortings)
	case "r":
		m.options.Reverse = !m.options.Reverse
	case "a":
		m.options.All = !m.options.All
	case "?", "h":
		m.help = !m.help
	case "down", "j":
		m.first++
	case "up", "k":
		m.first--
	case "pgdown":
		m.first += page
	case "pgup":
		m.first -= page
	case "home", "g":
		m.first = 0
	}
	return nil
}

var styles = map[appearance]lipgloss.Style{
	plain:  lipgloss.NewStyle(),
	title:  lipgloss.NewStyle().Bold(true),
	sorted: lipgloss.NewStyle().Reverse(true).Bold(true),
	good:   lipgloss.NewStyle().Foreground(lipgloss.Green),
	warn:   lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	bad:    lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
}

func painted(how appearance, s string) string { return styles[how].Render(s) }

const (
	fixedLines = 4 // status, totals, head, keys
	keys       = "q quit  space freeze  s/S sort  r reverse  a all  arrows scroll  ? help"
)

var helpText = []string{
	"RX, TX    bits on the wire a second of a port and priority (* lossless)",
	"QUEUE     egress queue; a full bar is XOFF (lossless) or where it drops",
	"          red: the peer's frames are in the headroom, or the queue is full",
	"PAUSED    rx: percent of the time for which the peer stopped this port;",
	"          tx: for which this port stopped its peer; ! now",
	"MARKS     frames marked CE a second      DROPS  frames discarded a second",
	"ALLOWED   what the reaction point allows a flow, TX what it sent",
	"",
	"q quit                  space, f  freeze and go on",
	"s, S      sort by the next, the previous column      r  reverse",
	"a         all priorities, idle ones too",
	"arrows, page up and down, home  scroll",
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	return v
}

// lines is the screen, as many lines as it has at most.
func (m *model) lines() []string {
	l := &layout{width: max(m.width, minWidth), order: &sortings[m.order], paint: painted}
	state := fmt.Sprintf("every %v", m.every)
	switch {
	case m.err != nil:
		state = painted(bad, cut(m.err.Error(), l.width))
	case m.frozen:
		state = painted(warn, "FROZEN")
	}
	if m.view == nil {
		return []string{state}
	}
	v := m.view
	v.sort(l.order, m.options.Reverse)
	status := l.status(v)
	if m.err != nil {
		status = state
	} else if room := l.width - len(status) - lipgloss.Width(state); room > 0 {
		status += strings.Repeat(" ", room) + state
	}
	lines := []string{status, l.totals(v), ""}
	if m.help {
		lines = append(lines, helpText...)
	} else {
		lines = append(lines, m.table(l, v)...)
	}
	room := max(1, m.height-1)
	if len(lines) > room {
		lines = lines[:room]
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return append(lines, painted(title, keys))
}

// table is what can be scrolled, from its first line on.
func (m *model) table(l *layout, v *View) (lines []string) {
	lines = l.rowsAndFlows(v, m.options.All)
	m.first = max(0, min(m.first, len(lines)-(m.height-fixedLines-1)))
	return append([]string{l.rowsHead()}, lines[m.first:]...)
}
