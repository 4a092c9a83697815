//go:build browser

// Command film makes a moving picture of a run: it starts photon with a live page, looks at the
// page in headless Chromium while the run goes on, and writes what it saw as a GIF: at the speed
// of what happened, or so much faster that it has a given length. scripts/film.sh
// calls it.
package main
