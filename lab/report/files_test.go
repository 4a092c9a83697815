package report

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/web"
	"photon/units"
)

// What is read is of the result that was written last, and nothing else: not what an earlier one had and it has not,
// and no part of it if it could not be written whole.
func TestResultsOfOneReplay(t *testing.T) {
	e, j, dir := everyPanel(t)
	first, value := &j.Runs[0], e.Values()[0]
	series := &measure.Series{Time: []units.Time{0}, Names: []string{"x"}, Value: [][]float64{{1}}}
	j.Alternatives = []run.Alternative{{}}
	first.Recorded(value, series, []measure.Ended{{Group: "g", From: "A", To: "B", FCT: units.Microsecond}})
	write := func() {
		t.Helper()
		if err := Write(e, dir, j); err != nil {
			t.Fatal(err)
		}
	}
	write()
	j.Alternatives = nil
	first.Recorded(value, series, nil)
	write()
	got, err := Load(e, dir, j.World)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Alternatives); n != 0 {
		t.Errorf("%d alternatives of an earlier result", n)
	}
	if flows := slices.Collect(got.Ended(first.Scheme, value)); len(flows) != 0 {
		t.Errorf("flows of an earlier result: %v", flows)
	}
	first.Recorded(value, nil, nil)
	write()
	if got, err = Load(e, dir, j.World); err != nil || got.Series(first.Scheme, value) != nil {
		t.Errorf("a series of an earlier result (%v)", err)
	}
	first.Recorded(value, series, nil)
	last := &j.Runs[len(j.Runs)-1]
	blocked := filepath.Join(Folder(e, dir), j.World, FileName(experiment.Key(last.Scheme, value))+".flows.csv")
	if err := os.MkdirAll(filepath.Join(blocked, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(e, dir, j); err == nil {
		t.Fatal("a file that cannot be written is no error")
	}
	if got, err := Load(e, dir, j.World); got != nil || err != nil {
		t.Errorf("a result of which not all could be written is read (%v)", err)
	}
}

// A page or a result is never half of one: who has the old file reads it to its end, and a page that cannot be
// made leaves the old one. A link to a file and a pipe stay what they are.
func TestFilesAreWhole(t *testing.T) {
	e, j, dir := everyPanel(t)
	text := "the old one"
	words := func(w io.Writer, _ *web.Page) error { _, err := io.WriteString(w, text); return err }
	if _, err := Page(e, dir, []*claim.Judged{j}, words); err != nil {
		t.Fatal(err)
	}
	var kept, names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			kept, names = append(kept, filepath.Join(t.TempDir(), d.Name())), append(names, path)
			err = os.Link(path, kept[len(kept)-1])
		}
		return err
	})
	if err != nil || len(kept) < 4 {
		t.Fatal(kept, err)
	}
	half := func(w io.Writer, _ *web.Page) error {
		_, err := io.WriteString(w, "half a")
		return errors.Join(err, errors.New("no more"))
	}
	if path, err := Page(e, dir, []*claim.Judged{j}, half); err == nil || readPage(t, path, nil) != text {
		t.Errorf("a page that could not be made (%v) is in place of the old one", err)
	}
	text = "the new one"
	if _, err := Page(e, dir, []*claim.Judged{j}, words); err != nil {
		t.Fatal(err)
	}
	if err := Write(e, dir, j); err != nil {
		t.Fatal(err)
	}
	for i := range kept {
		old, err := os.Stat(kept[i])
		if err != nil {
			t.Fatal(err)
		}
		if now, err := os.Stat(names[i]); err != nil || os.SameFile(old, now) {
			t.Errorf("%s was written in place (%v)", filepath.Base(names[i]), err)
		}
	}
	page, link := filepath.Join(dir, "page.html"), filepath.Join(dir, "link.html")
	if err := errors.Join(os.WriteFile(page, nil, 0o600), os.Symlink("page.html", link)); err != nil {
		t.Fatal(err)
	}
	if err := WriteReport(link, nil, nil, words); err != nil || readPage(t, page, nil) != text {
		t.Errorf("a page named by a link is not where that leads (%v)", err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := WriteReport(pipe, nil, nil, words); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode().IsRegular() {
		t.Fatalf("a pipe is a file now (%v)", err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != text {
		t.Errorf("a pipe's reader has %q (%v)", got, err)
	}
}

// The files of a result that somebody edited are read, or it is said what is
// wrong with them.
func FuzzResultFiles(f *testing.F) {
	f.Add([]byte("time_s,a,b\n0,1,2\n1e-3,NaN,3\n"))
	f.Add([]byte("group,from,to,bytes,start_s,fct_s,ideal_s\ng,H1,H2,1000,0,1e-3,1e-4\n"))
	f.Add([]byte("time_s\n1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := measure.ParseSeries(b); err == nil {
			for i := range s.Value {
				if len(s.Value[i]) != len(s.Time) || len(s.Value) != len(s.Names) {
					t.Fatalf("%d values of %d times", len(s.Value[i]), len(s.Time))
				}
			}
		}
		_, _ = parseFlows(bytes.NewReader(b))
	})
}
