package web

import "embed"

// StatusScript is the script of the page that shows replays while they run (status.js).
//
//go:embed status.js
var StatusScript embed.FS
