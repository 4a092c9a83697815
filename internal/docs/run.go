package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Namespaces is a program in which a document has its own interfaces, /run and
// processes, which end with it. The copy of the sources is mounted where the sources
// are, so that compiling there finds earlier results in Go's cache. It needs root.
func Namespaces(dir, sources string) []string {
	return []string{"unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "sh", "-ec", `
mount -t tmpfs run /run
mount --bind "$1" "$2"
cd "$2"
shift 2
ip link set lo up
exec "$@"
`, "sh", dir, sources}
}

// The shell of a document begins and ends with these. What runs in the background
// must have been ended by the document, and must have ended well: by itself or
// because it was asked to.
const (
	before = `set -eu
docs_pids=""
docs_serve() {
	docs_turns=0
	while [ "$(wc -l <"$DOCS/ready")" -lt "$((docs_before + $1))" ]; do
		docs_turns=$((docs_turns + 1))
		[ "$docs_turns" -lt 1200 ] || { echo "a photon in the background does not serve after two minutes"; exit 1; }
		sleep 0.1
	done
}
`
	after = `
echo end >>"$DOCS/progress"
for docs_pid in $docs_pids; do
	docs_turns=0
	while [ -d "/proc/$docs_pid" ] && ! grep -q ') Z' "/proc/$docs_pid/stat" 2>/dev/null; do
		docs_turns=$((docs_turns + 1))
		[ "$docs_turns" -lt 600 ] || { echo "a program in the background was not ended"; exit 1; }
		sleep 0.1
	done
	docs_code=0
	wait "$docs_pid" || docs_code=$?
	case $docs_code in
	0 | 130 | 143) ;; # itself, SIGINT, SIGTERM
	*) echo "a program in the background ended with exit code $docs_code"; exit 1 ;;
	esac
done
`
	// Interactive programs end by the key q. Keys that come before they listen are lost.
	onTerminal = `while sleep 0.5; do printf q; done | timeout 120 script -qec "stty cols 100 rows 30; sh -eu '%s'" /dev/null
`
)

// Run runs the blocks of a document, in a folder that is a copy of the sources,
// behind a program such as Namespaces (or none). It returns the output; the error names the line
// of the block that failed.
func Run(ctx context.Context, d *Document, dir string, behind []string) (output string, err error) {
	own, err := os.MkdirTemp("", "docs")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(own)
	var script strings.Builder
	script.WriteString(before)
	for i, b := range d.Blocks {
		name, isFile := b.File()
		switch {
		case isFile:
			kept := filepath.Join(own, fmt.Sprintf("file%d", i))
			if err := os.WriteFile(kept, []byte(b.Text), 0o644); err != nil {
				return "", err
			}
			fmt.Fprintf(&script, "echo %d >>\"$DOCS/progress\"\nmkdir -p '%s'\ncp '%s' '%s'\n", b.Line, filepath.Dir(name), kept, name)
		case b.Mark == "terminal":
			kept := filepath.Join(own, fmt.Sprintf("block%d", i))
			if err := os.WriteFile(kept, []byte(b.Text), 0o644); err != nil {
				return "", err
			}
			fmt.Fprintf(&script, "echo %d >>\"$DOCS/progress\"\n"+onTerminal, b.Line, kept)
		case b.Runs():
			text, serving, err := remembering(b)
			if err != nil {
				return "", fmt.Errorf("%s:%d: %w", d.Path, b.Line, err)
			}
			fmt.Fprintf(&script, "echo %d >>\"$DOCS/progress\"\ndocs_before=$(wc -l <\"$DOCS/ready\")\n%sdocs_serve %d\n", b.Line, text, serving)
		}
	}
	script.WriteString(after)
	file := filepath.Join(own, "script")
	if err := errors.Join(os.WriteFile(file, []byte(script.String()), 0o644), os.WriteFile(filepath.Join(own, "progress"), nil, 0o644)); err != nil {
		return "", err
	}
	notices, err := listen(own)
	if err != nil {
		return "", err
	}
	defer notices.Close()

	log, err := os.Create(filepath.Join(own, "log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	args := append(append([]string{}, behind...), "sh", file)
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // with what the shell waits for
	c.Dir, c.Stdout, c.Stderr = dir, log, log                                        // a file: what is left in the background does not hold it up
	c.Env = append(os.Environ(), "DOCS="+own, "NOTIFY_SOCKET="+filepath.Join(own, "notify"), "TERM=xterm-256color", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	err = c.Run()
	out, readErr := os.ReadFile(log.Name())
	progress, progressErr := os.ReadFile(filepath.Join(own, "progress"))
	if readErr != nil || progressErr != nil {
		return string(out), errors.Join(err, readErr, progressErr)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it was ended, since it does not end: %w", ctx.Err())
	}
	if err != nil {
		lines := strings.Fields(string(progress))
		at := "0"
		if len(lines) > 0 {
			at = lines[len(lines)-1]
		}
		return string(out), fmt.Errorf("%s:%s: %w", d.Path, at, err)
	}
	return string(out), nil
}

// listen makes the socket on which photons tell a service manager that they serve,
// and writes a line for each of them to the file ready.
func listen(dir string) (*net.UnixConn, error) {
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		return nil, err
	}
	ready, err := os.Create(filepath.Join(dir, "ready"))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go func() {
		defer ready.Close()
		buffer := make([]byte, 4096)
		for {
			n, err := conn.Read(buffer)
			if err != nil {
				return
			}
			if bytes.Contains(buffer[:n], []byte("READY=1")) {
				fmt.Fprintln(ready, time.Now().Format(time.TimeOnly))
			}
		}
	}()
	return conn, nil
}
