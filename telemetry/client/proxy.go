package client

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// DialCommand returns a client that reaches a node through the standard input and
// output of a command, as in `ssh host photon admin-proxy`; every connection
// starts it anew. The command ends with the connection.
func DialCommand(command []string) *Client {
	c := newClient(strings.Join(command, " "))
	c.http.Transport = &http.Transport{MaxConnsPerHost: 1, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return startPipe(command)
	}}
	return c
}

// Close ends the connections that wait for another request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// pipe is a connection to a command.
type pipe struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	errs   bytes.Buffer
	closed sync.Once
}

func startPipe(command []string) (net.Conn, error) {
	p := &pipe{cmd: exec.Command(command[0], command[1:]...)}
	p.cmd.Stderr = &p.errs
	p.cmd.WaitDelay = time.Second // for what it says; processes that it leaves behind may hold that open for ever
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err // the command is named with it
	}
	return p, nil
}

// Read returns what the command says; when it has ended, why, if it said so.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if n == 0 && err != nil {
		err = p.ended(err)
	}
	return n, err
}

// Write gives the command a request; when it has ended, Write says why as Read does: which of the two notices first
// is the scheduler's choice.
func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.in.Write(b)
	if err != nil {
		err = p.ended(err)
	}
	return n, err
}

// ended returns the last line that the command said before it ended, or err if it said nothing.
func (p *pipe) ended(err error) error {
	p.Close()
	if why := strings.TrimSpace(p.errs.String()); why != "" {
		lines := strings.Split(why, "\n")
		return lastWords(lines[len(lines)-1])
	}
	return err
}

// lastWords is what a command said before it ended.
type lastWords string

func (w lastWords) Error() string { return string(w) }

// Close ends the command: its input ends, and after a second it does.
func (p *pipe) Close() error {
	p.closed.Do(func() {
		p.in.Close()
		late := time.AfterFunc(time.Second, func() { _ = p.cmd.Process.Kill() })
		_ = p.cmd.Wait() // what it said is in errs
		late.Stop()
	})
	return nil
}

type pipeAddress struct{}

func (pipeAddress) Network() string { return "pipe" }
func (pipeAddress) String() string  { return "pipe" }

func (*pipe) LocalAddr() net.Addr              { return pipeAddress{} }
func (*pipe) RemoteAddr() net.Addr             { return pipeAddress{} }
func (*pipe) SetDeadline(time.Time) error      { return nil }
func (*pipe) SetReadDeadline(time.Time) error  { return nil }
func (*pipe) SetWriteDeadline(time.Time) error { return nil }

// Proxy joins in and out to the socket of a node until either ends.
func Proxy(path, name string, in io.Reader, out io.Writer) error {
	if path == "" {
		var err error
		if path, err = find(name); err != nil {
			return err
		}
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		return unreachable(path, err)
	}
	defer c.Close()
	go func() {
		_, _ = io.Copy(c, in)
		_ = c.(*net.UnixConn).CloseWrite()
	}()
	_, err = io.Copy(out, c)
	return err
}
