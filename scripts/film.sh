#!/bin/sh
# Makes the moving picture of the README, docs/images/run.gif: the live page of a run in virtual time, as headless
# Chromium sees it.
set -eu
cd "$(dirname "$0")/.."

scripts/setup.sh browser
mkdir -p bin
CGO_ENABLED=0 go build -o bin/photon-film ./cmd/photon
CGO_ENABLED=0 go run -tags browser ./internal/film -out docs/images/run.gif nice bin/photon-film replay pcn/fig12 --quick --schemes dcqcn,qcn,timely,pcn
