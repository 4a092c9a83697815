# photon: `make demo` shows the main job, `make test` runs every test.
# Both install what they need (Debian, as root).

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Packages without cgo, for the race detector.
PURE = $(shell go list ./... | grep -v -e /dpdk -e /testnet)

.PHONY: demo build deb test test-browser test-e1000e test-rxe test-slurm test-docs test-deb test-container lint race bench bench-forwarding bench-rfc2544 bench-agent bench-sim bench-stalls mixed faults conformance reproduce quick soak release test-arm64 clean setup setup-test setup-bench

demo: build
	bin/photon replay pcn/fig11 --world both

# Random tests draw the same each time, so that a change is judged and not its luck; RAPID_SEED=0 draws anew.
export RAPID_SEED ?= 1

# The commit that is built, with + behind it if the tree was changed; Go would not say it of a work tree.
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)$(if $(shell git status --porcelain 2>/dev/null | head -1),+)

build: setup
	go build -tags dpdk -ldflags "-X main.commit=$(COMMIT)" -o bin/photon ./cmd/photon

# Long runs of one goroutine each: traces and metrics of every scheme, the same with a clock that is set back; known
# results, and those of another simulator; networks in one part, claims that are judged; what runs of many flows keep,
# what a sweep makes of the catalogue, and what is built by another go. They have nothing to race with, and nothing of
# DPDK.
TRACES = TestGoldenTraces|TestLookingChangesNothing|TestMetricsAgainstFrames|Test(NothingChanges|Traffic)WhenTheClock
RESULTS = TestAFlowAloneHasTheLine|TestKnown|TestNICsShareABottleneck|TestNICsUnderRoundTripTimes|TestSlowdownsAgainst
NETWORKS = TestEverySchemeBehindNICs|TestWithoutLossless|TestCollectivesTake
PATHS = TestRoutesConverge|TestFlowsOverManyPaths|TestWeightedPaths|TestWaysAre
CLAIMS = TestMergedTally|TestEveryClaimMay|TestNoneIsNone|TestJudgeAgainst
OTHERS = TestAddAScheme|TestATableHolds|TestMemoryDoesNotGrow|TestTasksOfTheCatalogue
ALONE = ^($(TRACES)|$(RESULTS)|$(NETWORKS)|$(PATHS)|$(CLAIMS)|$(OTHERS))|^TestIncastLosesNothing$$/^fat

# For the race detector, what starts no goroutines besides: questions to each experiment of the catalogue, and scripts
# that run photon for one small thing after the other. Those named replay, sweep, hpcc and runcapture run many at once.
CATALOGUE = TestSeeds(DrawPhases|AreTwenty)|TestWiringOfAll|TestNotesAreShort|TestCatalogueIsAll|TestOursHaveSources|TestDamagedExperiments|TestReproductionIsOfVirtualTime
SCRIPTS = ^TestScripts$$/^(badinput|completion|list|names|overwrite|report|schemes_without_claims)$$

# Random networks in virtual time, a minute and more.
RANDOM = ^(TestNetworksLoseNothing|TestRandomExperimentsOnAnyCores|TestRandomFlowsEnd)$$

# Packages of which a build with DPDK has other code: files of its own, or a question whether it has DPDK.
DPDK = $(sort $(dir $(shell grep -rlE --include='*.go' '^//go:build .*\bdpdk\b|dpdk\.Available' .)))

# The first line is every test on a machine without DPDK and without a C compiler.
# Kubernetes' types are in a module of their own. Then what is another with DPDK, one package at a time: polling workers
# want a core to themselves.
test: setup-test
	CGO_ENABLED=0 go build ./... && CGO_ENABLED=0 go test -timeout 30m ./...
	cd internal/kubernetes && CGO_ENABLED=0 go test ./...
	go test -tags dpdk -p 1 -timeout 30m -skip '$(ALONE)|$(RANDOM)' $(DPDK)

# The report, the page of a sweep and the live pages in headless Chromium, light and dark, wide and narrow.
test-browser:
	@scripts/setup.sh browser
	CGO_ENABLED=0 go test -tags browser -run InBrowser ./internal/browser ./lab/live ./lab/report ./lab/sweep ./telemetry/live ./telemetry/page ./cmd/photon
	CGO_ENABLED=0 go test -tags browser ./internal/film
	go test -tags 'browser dpdk' -run NodePagesInBrowser ./cmd/photon

# The switch on the driver of a real card, in QEMU, between two other guests; minutes.
test-e1000e:
	@scripts/setup.sh e1000e
	go test -tags e1000e -count=1 -v ./internal/guest

# Soft-RoCE in guests whose NICs photon is: perftest and rping between two, a spoilt wire, an incast of four; a quarter of
# an hour. The outcome is in out/rxe.json.
test-rxe:
	@scripts/setup.sh rxe
	go test -tags rxe -count=1 -timeout 60m -v ./internal/guest

# Every command of every document, but for what is marked ci, hardware or cluster; minutes.
test-docs: setup-test setup-bench
	go mod download # what commands of documents need: they run without a network
	go test -tags docs -count=1 -timeout 90m -v -run TestDocuments ./internal/docs

# A Debian package of photon; VERSION=1.0 gives it a version.
deb:
	@scripts/setup.sh deb >&2
	@VERSION="$(VERSION)" deploy/debian/build.sh

# That package, made, looked at by lintian, installed into a copy of this system, and removed.
test-deb:
	@scripts/setup.sh deb
	go test -tags deb -count=1 -timeout 20m -run Package -v ./internal/docs

# The container's image, built and run by buildah on images of Debian that are made here; minutes.
test-container:
	@scripts/setup.sh container
	go test -tags container -count=1 -timeout 30m -run Image -v ./internal/docs

# The Go paths of another processor: all builds, and the mechanisms and the simulator pass on it, emulated by qemu-user;
# minutes.
test-arm64:
	@scripts/setup.sh arm64
	GOARCH=arm64 CGO_ENABLED=0 go vet ./...
	CGO_ENABLED=0 GOARCH=arm64 go test -exec qemu-aarch64-static -timeout 60m ./units ./wire ./pfc ./marking ./cnp ./ratelimit ./flowtable ./sim

# A sweep on Slurm, on this machine: munge, a controller and a node of the test's own.
test-slurm:
	@scripts/setup.sh slurm
	CGO_ENABLED=0 go test -tags slurm -run OnSlurm ./cmd/photon

# Every experiment as it is, and one report of all: verdicts and traces are to be those of docs/reproduction.json.
# UPDATE=1 writes that table, for a change that is meant. ONLY="pcn/fig2 pcn/fig11": those, and a report of them.
reproduce: build
ifdef ONLY
	bin/photon replay $(ONLY) --out out/only
	bin/photon report out/only --against docs --some
else
	bin/photon replay --all
	bin/photon report out $(if $(UPDATE),--reproduction docs,--against docs)
endif

# Every experiment in short, and one report of all: verdicts and traces are to be those of the committed
# table. UPDATE=1 writes it, for a change that is meant.
quick: build
	bin/photon replay --all --quick --out out/quick
	bin/photon report out/quick --compare lab/testdata/quick.json $(if $(UPDATE),--update)

lint:
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "not gofmt-clean:" $$files; exit 1; }
	@! git grep -nE '^(<<<<<<<|>>>>>>>) ' || { echo "what a merge left behind"; exit 1; }
	@for script in scripts/*.sh deploy/testbed-82599/*.sh .ci/*; do sh -n $$script || exit 1; done
	go vet ./...
	go vet -tags dpdk ./...
	go run $(STATICCHECK) ./...
	go run $(STATICCHECK) -tags dpdk ./...
	go vet -tags browser ./lab/live ./lab/report ./lab/sweep ./telemetry/live ./telemetry/page ./internal/browser ./internal/film ./cmd/photon
	go vet -tags 'browser dpdk' ./cmd/photon
	go vet -tags e1000e ./internal/guest
	go vet -tags rxe ./internal/guest
	go vet -tags slurm ./cmd/photon
	go vet -tags 'dpdk conformance' ./cmd/photon
	go run $(STATICCHECK) -tags 'dpdk conformance' ./cmd/photon
	go vet -tags docs ./internal/docs
	go vet -tags deb ./internal/docs
	go vet -tags container ./internal/docs
	cd internal/kubernetes && go vet ./... && go run $(STATICCHECK) ./...

# Of the program with DPDK: what happens to a switch, an agent or a NIC while its workers poll.
RACES = ^(TestFaults|TestMixed|TestImpair|TestPort(sOfEveryKind|WithRules|IsShut)|TestDeviceOf|TestLivePage|TestCapture|TestReload|TestNICPauses|TestAgentsRepeat)

# The race detector makes random networks thirty times slower: five of them are enough for it. With DPDK it sees workers
# beside scrapes, reloads, ports that come and go, and every kind of fault. That a worker never sleeps is no promise then:
# the detector's memory grows, and who touches it meanwhile waits for the kernel.
race: setup-test
	go test -race -timeout 20m -skip '$(ALONE)|$(RANDOM)|^($(CATALOGUE))$$|$(SCRIPTS)' $(PURE)
	RAPID_CHECKS=5 go test -race -run '$(RANDOM)' ./lab/build ./lab/run
	go test -tags dpdk -race -timeout 20m -skip '^TestWorkersNeverSleep$$' ./dataplane/dpdk
	go test -tags dpdk -race -timeout 20m -run '$(RACES)' ./cmd/photon

# BENCHTIME=0.1s tries it.
BENCHTIME ?= 1s
bench:
	go test -run '^$$' -bench . -benchtime $(BENCHTIME) ./wire ./flowtable ./ratelimit ./dataplane ./agent ./telemetry/metrics ./telemetry/live

# photon beside dpdk-testpmd and Open vSwitch on virtual devices, some ten minutes; BENCH=-quick tries it.
bench-forwarding: setup-bench
	go build -tags dpdk -o bin/bench ./internal/bench
	bin/bench $(BENCH)

# Throughput without loss and with 0.5 %, latencies and bursts by RFC 2544, incast and head-of-line blocking by RFC 8239, of the
# same three, from a process of its own over net_memif; a quarter of an hour, on a machine that does nothing else. BENCH=-quick tries it.
bench-rfc2544: setup-bench
	go build -tags dpdk -o bin/bench ./internal/bench
	bin/bench -rfc2544 $(BENCH)

# Pacing errors and costs of 10 to 100 000 flows, and flow tables beside Go's map and rte_hash; some two minutes. BENCH=-quick tries it.
bench-agent: setup
	go build -tags dpdk -o bin/bench-agent ./internal/bench/agent
	bin/bench-agent $(BENCH)

# The simulator: packet-hops per second and memory. BENCHSIM=-growth: from 16 to 1024 hosts.
bench-sim:
	CGO_ENABLED=0 go build -o bin/simbench ./internal/simbench
	CGO_ENABLED=0 go build -o bin/photon-sim ./cmd/photon
	bin/simbench -photon bin/photon-sim $(BENCHSIM)

# Everything that happens to a switch at once, for ten minutes; MIXED=8s tries it.
MIXED ?= 10m
mixed: SHELL = /bin/bash
mixed: .SHELLFLAGS = -o pipefail -c
mixed: setup-test
	MIXED=$(MIXED) go test -tags dpdk -count 1 -timeout 2h -run TestMixed -v ./cmd/photon | grep -v INFO

# Every kind of fault in turn on a loaded switch, for ten minutes, and what came of them: out/faults.json. FAULTS=30s tries it.
FAULTS ?= 10m
faults: SHELL = /bin/bash
faults: .SHELLFLAGS = -o pipefail -c
faults: setup-test
	FAULTS=$(FAULTS) go test -tags dpdk -count 1 -timeout 2h -run TestFaults -v ./cmd/photon | grep -v INFO

# Cases of test plans that others wrote, on veth ports; minutes. docs/conformance.md is the outcome, and the run fails if a
# verdict differs from it. CASE=pfc-lossless-one runs one; UPDATE=1 writes the page, for a change that is meant.
conformance: setup-test
	UPDATE="$(UPDATE)" go test -tags 'dpdk conformance' -count 1 -timeout 60m -v -run '^TestConformance$$$(if $(CASE),/^$(CASE)$$)' ./cmd/photon

# The time between two polls beside a loop in C, three minutes. BENCH="-runs 1 -span 1s -warmup 1s" tries it.
bench-stalls: build
	go build -tags dpdk -o bin/bench-stalls ./internal/bench/stalls
	taskset -c 0 bin/bench-stalls $(BENCH)

# Hours, if you like: SOAK=10m is the time of each fuzz target and of the repeated tests.
SOAK ?= 1m
soak: setup-test
	scripts/soak.sh $(SOAK)

# What a release consists of; VERSION=1.0.0. CONTAINER=no leaves the image out.
release: setup
	@scripts/setup.sh deb
	@[ "$(CONTAINER)" = no ] || scripts/setup.sh container
	@VERSION="$(VERSION)" CONTAINER="$(CONTAINER)" scripts/release.sh

clean:
	rm -rf bin out

setup:
	@scripts/setup.sh

setup-test:
	@scripts/setup.sh test

setup-bench:
	@scripts/setup.sh bench
