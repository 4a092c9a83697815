package web

import "embed"

// Board is the script of the page that shows replays while they run (board.js).
//
//go:embed board.js
var Board embed.FS
