//go:build browser

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/renameio/v2"
)

const (
	patience = 3 * time.Minute        // for anything
	still    = 4 * time.Second        // how long the end is shown
	between  = 250 * time.Millisecond // pictures, at least
)

func main() {
	out := flag.String("out", "run.gif", "the picture")
	width := flag.Int("width", 1100, "of the page")
	height := flag.Int("height", 935, "of what is shown of it")
	length := flag.Duration("length", 12*time.Second, "of the picture: a run that takes longer is shown so much faster")
	scale := flag.Float64("scale", 0.8, "of a pixel of the page in the picture")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "film [flags] photon replay pcn/fig11 ...: a moving picture of what the live page of the command shows")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *length, int64(*width), int64(*height), *scale, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "film:", err)
		os.Exit(1)
	}
}

func run(out string, length time.Duration, width, height int64, scale float64, command []string) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	url, end, err := serve(ctx, command)
	if err != nil {
		return err
	}
	defer end()
	frames, err := watch(ctx, url, width, height, scale)
	if err != nil {
		return err
	}
	took := frames[len(frames)-1].at
	faster := max(1, took.Seconds()/length.Seconds())
	b, err := encode(frames, faster)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d pictures of %v, shown %.1f times as fast, %d KB\n", out, len(frames), took.Round(time.Second), faster, len(b)/1000)
	return renameio.WriteFile(out, b, 0o644)
}

// serve starts the command with a live page, and returns the page's address and what ends it.
func serve(ctx context.Context, command []string) (url string, end func(), err error) {
	dir, err := os.MkdirTemp("", "film")
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "--serve=127.0.0.1:0", "--out", dir)...)
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	end = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	address := make(chan string, 1)
	go func() {
		var said bytes.Buffer
		where := regexp.MustCompile(`live page: (http://127\.0\.0\.1:\d+/)`)
		found := false
		part := make([]byte, 4096)
		for {
			n, err := r.Read(part)
			if m := where.FindSubmatch(append(said.Bytes(), part[:n]...)); m != nil && !found {
				found = true
				address <- string(m[1])
			}
			said.Write(part[:n])
			if err != nil {
				return
			}
		}
	}()
	select {
	case url = <-address:
		return url, end, nil
	case <-ctx.Done():
		end()
		return "", nil, errors.New("the command has no live page")
	}
}

// frame is what was seen at a time.
type frame struct {
	at    time.Duration // since the first
	image *image.RGBA
}

// watch looks at the page again and again until the run is done.
func watch(ctx context.Context, url string, width, height int64, scale float64) (frames []frame, err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, stopTab := chromedp.NewContext(ctx)
	defer stopTab()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)), chromedp.Navigate(url)); err != nil {
		return nil, err
	}
	begin := time.Now()
	for {
		next := time.Now().Add(between)
		done, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.querySelector('.state') !== null && document.querySelector('.state').textContent === 'done'`))
		if err != nil {
			return nil, err
		}
		b, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return nil, err
		}
		seen, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		f := frame{at: time.Since(begin), image: image.NewRGBA(seen.Bounds())}
		draw.Draw(f.image, f.image.Bounds(), seen, seen.Bounds().Min, draw.Src)
		frames = append(frames, f)
		if done {
			return frames, nil
		}
		time.Sleep(time.Until(next))
	}
}
