# Everything here needs Go and nothing else. "make test" is what a change must pass.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:

GO ?= go
FUZZTIME ?= 30s
BENCHTIME ?= 1s
TESTFLAGS ?= -timeout 20m

# The deterministic core: what the analyser checks. See docs/design.md, Determinism.
CORE := ./sim ./sim/host ./sim/law/... ./internal/fight ./internal/difference ./internal/render ./internal/usage \
  ./sim/trial ./fakeapi ./fakeapi/internal/... ./controllers/...

# The module roots: this one and every nested one. That of the strangers compiles half of other people's projects:
# make strangers runs it.
MODULES := $(patsubst %/go.mod,%,$(shell \
  find . -name go.mod -not -path '*/testdata/*' -not -path './.*/*' -not -path './strangers/*' | LC_ALL=C sort))

.PHONY: all test begin vet fmt detcheck unit race run build bench forever fuzz soak differential survey definitions \
  track mutate browser picture strangers update clean

all: test build

# Every part says what it does before it does it: with cold caches the first of them
# compiles all there is, and takes minutes.
test: begin fmt vet detcheck unit race
	@echo "not run: other projects' controllers, which compile for minutes: make strangers"
	@echo "make test: passed in $$(( $$(date +%s) - $$(cat bin/.began) )) s"

begin:
	@mkdir -p bin && date +%s >bin/.began
	@echo "make test: gofmt, vet, the analyser, tests, the race detector ($$($(GO) version | cut -d' ' -f3);" \
	  "the first run compiles everything, which takes minutes)"

fmt:
	@echo "gofmt"
	@out=$$(gofmt -l $$(find . -name '*.go' -not -path './.*/*')); \
	if [ -n "$$out" ]; then echo "not gofmt'ed:"; echo "$$out"; exit 1; fi

vet:
	@for m in $(MODULES); do echo "vet $$m"; (cd $$m && $(GO) vet ./...); done

detcheck:
	@echo "the analyser for determinism"
	@$(GO) run ./internal/detcheck/cmd/detcheck -test=false $(CORE)

# Packages are listed as they pass.
unit:
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  echo "module ./browser is NOT RUN: no chromium (make browser installs it)"
	@for m in $(MODULES); do echo "test $$m"; \
	  (cd $$m && $(GO) test $(TESTFLAGS) ./... | { grep -v 'no test files' || true; }); done

# The parts that have goroutines, under the race detector, which needs a C compiler.
race:
	@if command -v $${CC:-cc} >/dev/null; then \
	  echo "the race detector"; \
	  CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) ./fakeapi/httpapi ./internal/live ./internal/realtime; \
	  CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) -run 'Report|Interrupt|Double|Share|Failure' ./internal/explore; \
	else echo "the race detector is not run: no C compiler"; fi

# Builds the command, and runs every scenario.
run:
	@echo "building bin/threelaws (the first time this compiles everything, and takes a minute or two)"
	@$(MAKE) --no-print-directory build
	bin/threelaws run ./scenarios

build:
	@CGO_ENABLED=0 $(GO) build -trimpath -o bin/threelaws ./cmd/threelaws

# Every package that has a benchmark, one after the other so that they do not
# disturb each other.
bench:
	@for m in $(MODULES); do (cd $$m; \
	  for d in $$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -r -n1 dirname | LC_ALL=C sort -u); do \
	    root=$$(cd $$d && $(GO) list -m -f '{{.Dir}}'); [ "$$root" = "$$PWD" ] || continue; \
	    $(GO) test -run='^$$' -bench=. -benchmem -benchtime=$(BENCHTIME) $$d; \
	  done); done

# A million objects created and deleted in a server with two controllers: what the heap holds at
# the end and after a twentieth of it, and how long each took. Minutes.
forever:
	$(GO) test -run='^$$' -bench=ServeForEver -benchtime=62500x -timeout 3h ./cli

# Every native fuzz target, FUZZTIME each.
fuzz:
	@for m in $(MODULES); do (cd $$m; \
	  for f in $$(grep -rl --include='*_test.go' '^func Fuzz' . | LC_ALL=C sort); do \
	    d=$$(dirname $$f); \
	    root=$$(cd $$d && $(GO) list -m -f '{{.Dir}}'); [ "$$root" = "$$PWD" ] || continue; \
	    for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$f); do \
	      echo "fuzz $$d $$t"; \
	      $(GO) test -run='^$$' -fuzz="^$$t\$$" -fuzztime=$(FUZZTIME) $$d; \
	    done; \
	  done); done

# The long proofs: exhaustive search against random and unreduced search on every
# world small enough, and SOAK schedules with faults of all sorts over all worlds.
# Upstream's own controllers are a hundred times slower than ours: a hundred thousand schedules of them.
SOAK ?= 1000000
soak:
	SOAK=$(SOAK) $(GO) test -timeout 24h -count=1 -v -run 'TestConforming' ./cli
	SOAK=$(SOAK) $(GO) test -timeout 24h -count=1 -v -run 'TestExhaustiveIs|TestAStateDecides' ./scenarios/simtest
	cd upstream && SOAK=$$(($(SOAK) / 10)) $(GO) test -timeout 24h -count=1 -v \
	  -run 'AccusedOfNothingElse|ComesToTheSameEnd|DrawnWorlds|FoundGuiltyAgain' ./hosted
	cd upstream && $(GO) test -timeout 24h -count=1 -v -run OwnRules . -attempts 10000
	$(GO) test -timeout 24h -count=1 ./scenarios/simtest/acquitted -threelaws.schedules=20000

# Drives a real kube-apiserver and this server with the same generated sequences, counts the answers
# that are alike, and lists all differences, the commonest first. See docs/fidelity.md for THROWAWAY.
SEED ?= 1
survey:
	$(GO) test ./internal/differential -run TestSurvey -v -count=1 -timeout 2h -server='$(SERVER)' \
	  -token='$(TOKEN)' -resources='$(RESOURCES)' $(if $(THROWAWAY),-throwaway) -sequences=$(SEQUENCES) -seed=$(SEED)

# Drives a real kube-apiserver and this server with the same generated sequences, and reports the
# first difference, shrunk. It makes a namespace for each sequence and deletes what it made; controllers that act
# on the objects make differences of their own: RESOURCES=configmaps,secrets leaves the others out.
THROWAWAY ?=
SERVER ?=
TOKEN ?=
RESOURCES ?=
SEQUENCES ?= 200
differential:
	$(GO) test ./internal/differential -run TestDifferential -v -count=1 -timeout 2h -server='$(SERVER)' \
	  -token='$(TOKEN)' -resources='$(RESOURCES)' $(if $(THROWAWAY),-throwaway) -rapid.checks=$(SEQUENCES)

# Installs the definitions of eight other projects in a server, and runs gateway-api's own tests of its
# rules against it. It downloads some hundred megabytes.
definitions:
	cd kubectltest && $(GO) test -run TestDefinitionsOfOthers -definitions -v -count=1 .

# Other projects' controllers, as released, under the laws: docs/strangers.md, which UPDATE=-update writes anew.
# sample-controller is a main, which cannot be imported: the go command is shown its file in an overlay.
UPDATE ?=
strangers:
	@mkdir -p bin
	@cd strangers && at=$$($(GO) mod download -json k8s.io/sample-controller | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
	  printf '{"Replace": {"%s/samplecontroller/controller.go": "%s/controller.go"}}\n' "$$PWD" "$$at" \
	    >../bin/strangers.json
	cd strangers && $(GO) test $(TESTFLAGS) -count=1 -tags strangers -overlay ../bin/strangers.json \
	  $$($(GO) list -tags strangers ./... | grep /strangers/) $(UPDATE)
	cd strangers && $(GO) test -count=1 . $(UPDATE)

# Finds each known bug again, by 30 seeds, and writes docs/track-record.md.
track:
	$(GO) run ./cmd/threelaws track --out docs/track-record.md

# Mutates the controllers, one place at a time, lists what nothing notices, and brings the table of
# docs/mutation.md up to date: an hour of one core. MUTATE=--only=ref does it for one package.
MUTATE ?=
mutate:
	$(GO) run ./internal/mutate/cmd/mutate --write docs/mutation.md $(MUTATE)

# Opens pages in a real browser: what they show, what cannot run in them, how quick they are, and what
# axe-core, from npm where there is one, has against them. It installs Debian's Chromium where none is.
AXE := bin/axe/package/axe.min.js
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  { apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } || \
	  echo "Chromium cannot be installed here"
	@mkdir -p bin/axe; [ -f $(AXE) ] || ! command -v npm >/dev/null || \
	  (cd bin/axe && npm pack --silent axe-core@4 >/dev/null && tar xzf axe-core-*.tgz package/axe.min.js) || \
	  echo "axe-core cannot be had from npm"
	cd browser && $(GO) test -v -count=1 -bench=. -benchtime=5x . $$([ ! -f ../$(AXE) ] || echo -axe=$(CURDIR)/$(AXE))

# Draws the picture of the README anew.
picture:
	$(GO) test ./cli -run TestPictureOfTheFight -update

# Rewrites goldens: the scenario files' and those of packages whose tests have
# an -update flag. Read the difference before you commit it.
update:
	@for m in $(MODULES); do (cd $$m; \
	  for d in $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n1 dirname | LC_ALL=C sort -u); do \
	    root=$$(cd $$d && $(GO) list -m -f '{{.Dir}}'); [ "$$root" = "$$PWD" ] || continue; \
	    $(GO) test $$d -update; \
	  done); done
	$(GO) run ./cmd/threelaws run --update ./scenarios
	cd kubectltest && $(GO) test -run 'TestKubectl|TestFakes' -update .

clean:
	rm -rf bin
