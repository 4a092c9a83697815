package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// logFlags say how a command that runs for long reports what it does, on standard error.
type logFlags struct {
	verbose bool
	format  logFormat
}

// add adds the flags; more is what --verbose logs in addition.
func (l *logFlags) add(c *cobra.Command, more string) {
	l.format = "text"
	c.Flags().BoolVarP(&l.verbose, "verbose", "v", false, more)
	c.Flags().Var(&l.format, "log-format", "Log in this `format`: text, or json with one object a line")
}

// logFormat is text or json.
type logFormat string

func (f *logFormat) String() string { return string(*f) }
func (f *logFormat) Type() string   { return "format" }
func (f *logFormat) Set(s string) error {
	if s != "text" && s != "json" {
		return fmt.Errorf("text or json")
	}
	*f = logFormat(s)
	return nil
}

// logLine is one line of a log in JSON, with the keys that the log of a switch has.
type logLine struct {
	Level   string    `json:"level"`
	Time    time.Time `json:"ts"`
	Message string    `json:"msg"`
	*runEnded
}

// runEnded is what a program wants to know when a run of a replay or a task of a sweep has ended.
type runEnded struct {
	Run   string  `json:"run"`
	Ended int     `json:"ended"`
	Runs  int     `json:"runs"`
	Part  float64 `json:"part"`             // of all that is to be run
	Left  float64 `json:"left_s,omitempty"` // until the end, as far as that is known
}

func (l logLine) write(w io.Writer) {
	_ = json.NewEncoder(w).Encode(l) // a log that cannot be written is no reason to stop
}

// complain prints why photon ends, in the form that the command was to log in.
func complain(w io.Writer, c *cobra.Command, err error) {
	if c != nil {
		if f := c.Flags().Lookup("log-format"); f != nil && f.Value.String() == "json" {
			logLine{Level: "ERROR", Time: time.Now(), Message: err.Error()}.write(w)
			return
		}
	}
	fmt.Fprintln(w, "photon:", err)
}
