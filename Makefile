# Everything here needs Go and nothing else. "make test" is what a change must pass.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:

GO ?= go
FUZZTIME ?= 30s
BENCHTIME ?= 1s
TESTFLAGS ?= -timeout 20m

# Simulations and the compiler make much garbage and keep little: memory is collected when a process has this much.
export GOGC ?= off
export GOMEMLIMIT ?= 1500MiB

# Nothing here is C, and no debugger reads what is compiled: compiling takes a fifth less time without, linking a quarter.
export CGO_ENABLED ?= 0
export GOFLAGS ?= -gcflags=all=-dwarf=false -ldflags=-s

# The deterministic core: what the analyser checks. See docs/inside/design.md, Determinism.
CORE := ./sim ./sim/host ./sim/law/... ./internal/fight ./internal/objectdiff ./internal/render ./internal/quotausage \
  ./sim/trial ./fakeapi ./fakeapi/internal/... ./controllers/...

# The modules. "make test" runs the tests of TESTED. The others compile Kubernetes itself or other people's projects,
# or judge this project: upstream and kubectltest have a target of their own, and "make test-long" runs all of them.
TESTED := . agent browser controllerruntime
MODULES := $(TESTED) kubectltest upstream lab

# The packages whose tests run worlds for more than some seconds: they are tested after the others.
SLOW := /threelaws/(cli|controllers|scenarios|sim/bubble|internal/agent)(/|$$)

.PHONY: soak all test test-long upstream-tests patches begin fmt vet detcheck unit upstream campaign workflows race run \
  build bench forever fuzz survey differential record next definitions thirdparty evidence mutate browser picture update \
  clean

all: test build

# Each part says what it does before it does it. With cold caches the first one compiles everything, which takes
# minutes.
test: begin fmt vet detcheck unit
	@cat bin/.seconds
	@echo "make test: passed in $$(( $$(date +%s) - $$(cat bin/.began) )) s"

# A line for each thing that is missing on this machine.
begin:
	@{ mkdir -p bin && : >bin/.seconds; } 2>/dev/null || { echo "make test: $$PWD cannot be written"; exit 1; }
	@command -v $(GO) >/dev/null || { echo "make test: there is no $(GO) in PATH: install Go 1.26 or newer"; exit 1; }
	@date +%s >bin/.began
	@d=$$($(GO) env GOCACHE); [ -n "$$d" ] && [ "$$d" != off ] && mkdir -p "$$d" 2>/dev/null && [ -w "$$d" ] || \
	  { echo "make test: the build cache '$$d' cannot be written: set GOCACHE to a directory that can"; exit 1; }
	@for m in $(TESTED) lab; do \
	  (cd $$m && GOPROXY=off $(GO) list -deps -test ./... >/dev/null 2>&1) && continue; \
	  d=$$($(GO) env GOMODCACHE); [ -n "$$d" ] && mkdir -p "$$d" 2>/dev/null && [ -w "$$d" ] || \
	  { echo "make test: modules are missing and '$$d' cannot be written: set GOMODCACHE to a directory that can"; exit 1; }; \
	  echo "downloading the modules that $$m needs"; \
	  (cd $$m && $(GO) list -deps -test ./... >/dev/null) 2>bin/.download || \
	  { echo "make test: the packages of $$m cannot be listed: $$(grep -v '^go: downloading' bin/.download | head -1)"; exit 1; }; \
	  done
	@[ "$$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)" -gt 1 ] || echo "one core: this takes twice as long"
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  echo "the pages are NOT OPENED in a browser: no chromium (make browser installs it)"
	@echo "make test: gofmt, vet, the analyser, tests ($$($(GO) version | cut -d' ' -f3);" \
	  "the first run compiles everything, which takes minutes)"

# compiler succeeds where there is the C compiler that Go uses.
compiler = cc=$$($(GO) env CC) && command -v $${cc%% *} >/dev/null

fmt:
	@echo "gofmt"
	@out=$$(gofmt -l $$(find . -name '*.go' -not -path './.*/*')); \
	if [ -n "$$out" ]; then echo "not gofmt'ed:"; echo "$$out"; exit 1; fi

# With cold caches, go vet alone leaves a core idle at times. So go build comes first.
vet:
	@for m in $(TESTED) lab; do echo "build and vet $$m"; \
	  $(call timed,build and vet of $$m,(cd $$m && $(GO) build ./... && $(GO) vet ./...)); done

detcheck:
	@echo "the analyser for determinism"
	@$(GO) build -C lab -o ../bin/detcheck ./cmd/detcheck
	@bin/detcheck -test=false $(CORE)

# timed runs a command and keeps how long it took.
timed = mkdir -p bin; at=$$(date +%s); $(2); echo "$(1): $$(( $$(date +%s) - at )) s" >>bin/.seconds
tests = $(GO) test -vet=off $(TESTFLAGS) $(1) | { grep --line-buffered -v 'no test files' || true; }

# Packages are listed as they pass, quick ones first. The slow ones are in the order of this list where one package uses
# one core for minutes (FIRST): otherwise the last of them would run alone.
# One package more than there are cores runs at a time, since the tests of whole programs often wait.
FIRST := ./scenarios/conformance ./internal/agent
unit: PACKAGES = $(shell echo $$(( $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1 )))
unit:
	@$(call timed,tests of the quick packages,$(call tests,$$($(GO) list ./... | grep -Ev '$(SLOW)')))
	@$(call timed,tests of the slow packages,$(call tests,-p $(PACKAGES) $(FIRST) \
	  $$($(GO) list ./... | grep -E '$(SLOW)' | grep -Ev '/(scenarios/conformance|internal/agent)$$')))
	@all=; for m in $(filter-out .,$(TESTED)) lab; do p=./...; [ $$m != lab ] || p=./detcheck; \
	  ($(call timed,tests of $$m,(cd $$m && $(call tests,$$p)))) & all="$$all $$!"; done; \
	  failed=0; for one in $$all; do wait $$one || failed=1; done; exit $$failed

# Compares the server and the controllers with Kubernetes' own, and kubectl with what it expects. For a change of
# either; compiles Kubernetes, which takes minutes.
upstream:
	@for m in upstream kubectltest; do \
	  echo "vet $$m"; (cd $$m && $(GO) vet ./...); \
	  $(call timed,tests of $$m,(cd $$m && $(call tests,./...))); done
	@$(MAKE) --no-print-directory campaign

# The Jobs of deploy/campaign on a server with upstream's Job controller. For another server without authentication, such
# as "kubectl proxy", set CAMPAIGN_SERVER and run the test.
campaign:
	@echo "a campaign with upstream's Job controller"
	@$(GO) build -C upstream -o ../bin/threelaws-upstream ./cmd/threelaws-upstream
	@rm -f bin/campaign.yaml; bin/threelaws-upstream serve --controllers job@upstream --kubeconfig bin/campaign.yaml \
	  >bin/campaign.txt 2>&1 & trap "kill $$!" EXIT; \
	  until [ -s bin/campaign.yaml ]; do kill -0 $$! || { cat bin/campaign.txt; exit 1; }; sleep 0.1; done; \
	  CAMPAIGN_SERVER=$$(sed -n 's/.*server: //p' bin/campaign.yaml) $(GO) test -vet=off -count=1 -run '^TestCampaign$$' ./cli

# Kubernetes' and controller-runtime's own integration tests on "threelaws serve": docs/evidence/upstream-tests.md. SUITE
# names suites, with spaces between. UPDATE=-update writes the page.
SUITE ?=
upstream-tests:
	@$(GO) run -C lab ./cmd/upstreamtests $(UPDATE) $(SUITE)

# Checks the workflow files with actionlint, and their scripts with shellcheck if it is installed.
workflows:
	@echo "actionlint"
	@$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# The parts that have goroutines, under the race detector, for which everything is compiled once more. The recorded
# cases send one request after another.
race:
	@if ! { $(compiler); }; then echo "the race detector is NOT RUN: it needs a C compiler"; else \
	  echo "the race detector"; \
	  $(call timed,the race detector,CGO_ENABLED=1 $(GO) test -vet=off -race $(TESTFLAGS) \
	    -skip 'Vectors|Sequences|FuzzWire|Checks' ./fakeapi/httpapi ./internal/livepage ./internal/wallclock; \
	    CGO_ENABLED=1 $(GO) test -vet=off -race $(TESTFLAGS) \
	    -run 'Report|Interrupt|Double|Share|Failure' ./internal/explore); fi

# The long proofs, before a release and every night: SOAK schedules with faults over all worlds, exhaustive search
# against random and unreduced search on every small world, upstream's controllers in every world, this project's
# mutants, other projects' controllers. Hours; SOAK=1000000 takes most of a day. A machine of 16 GB runs worlds on
# all cores. Of upstream's tests, these suites run.
SOAK ?= 20000
test-long: SUITE = apiextensions kubernetes/client controller-runtime/client controller-runtime/cache controller-runtime/manager
test-long: export GOGC = 400
test-long: export GOMEMLIMIT = 8GiB
test-long: test workflows race upstream upstream-tests $(MODULES:%=long-%) thirdparty

# A campaign: SOAKTIME over all worlds, then WALLTIME for each test of right controllers, with a line for
# each. SHARD=0/8 does a part. Results are in RESULTS, for "threelaws merge". See docs/use/campaigns.md.
SOAKTIME ?= 10m
SHARD ?=
RESULTS ?= $(CURDIR)/bin/soak
soak: build
	@failed=0; \
	SOAKTIME=$(SOAKTIME) SOAKSHARD=$(SHARD) SOAKRESULTS=$(RESULTS) $(GO) test -vet=off -count=1 -timeout 0 -v \
	  -run '^TestConformingEraKeepsTheLaws$$' ./cli | grep -v '^=== ' || failed=1; \
	$(GO) test -vet=off -count=1 -timeout 0 -v -run '^TestRight' ./scenarios/conformance \
	  -threelaws.time=$(WALLTIME) -threelaws.shard=$(SHARD) -threelaws.results=$(RESULTS) | \
	  grep -E '^(--- |    --- FAIL|FAIL|ok)' || failed=1; \
	bin/threelaws merge --out bin/soak-failures --html bin/soak.html -o bin/soak.jsonl $(RESULTS) >bin/soak.txt || [ $$? = 5 ] || failed=1; \
	grep ' schedules, ' bin/soak.txt; exit $$failed

# WALLTIME is for each test of the right controllers.
WALLTIME ?= 10s

long-%:
	@echo "the long tests of module $*"
	@[ $* != . ] || $(GO) run ./cmd/threelaws test -count=1 ./sim/bubble
	@[ $* != . ] || OVERLAY=1 $(GO) run ./cmd/threelaws test -count=1 -run LeaderElectedPair ./scenarios/conformance
	@cd $* && SOAK=$(SOAK) $(GO) test -vet=off -timeout 24h ./... | { grep -v 'no test files' || true; }

# Leaves out one edit of the standard library at a time, and looks whether a test fails. For a change of
# internal/overlay/patches.go. The standard library is compiled for each: hours.
patches:
	PATCHES=1 $(GO) test -vet=off -timeout 24h -run TestEveryPatchIsNeeded -v ./internal/agent

# Builds the command, and runs every scenario.
run:
	@echo "building bin/threelaws (the first time this compiles everything, which takes minutes)"
	@$(MAKE) --no-print-directory build
	bin/threelaws run ./scenarios

build:
	@$(GO) build -o bin/threelaws ./cmd/threelaws

# Every package that has a benchmark, one after the other so that they do not
# disturb each other.
bench: export GOGC = 400
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

# Moves the tree to another version of Kubernetes, and lists what differs: make next VERSION=v1.37.0. See
# docs/inside/next.md.
next:
	@$(GO) run -C lab ./cmd/next $(VERSION)

# Drives a real kube-apiserver and this server with the same generated sequences, counts the answers
# that are alike, and lists all differences, the commonest first. It also compares OpenAPI schemas. See docs/evidence/fidelity.md for THROWAWAY.
SEED ?= 1
survey:
	$(GO) test -C lab ./serverdiff -run 'TestSurvey|TestOpenAPI' -v -count=1 -timeout 2h -server='$(SERVER)' \
	  -token='$(TOKEN)' -resources='$(RESOURCES)' $(if $(THROWAWAY),-throwaway) -sequences=$(SEQUENCES) -seed=$(SEED)

# Records the cases of one area again, from a real kube-apiserver: AREA is a folder of fakeapi/testdata/vectors. It
# prints what differs and what it keeps. Use a server that may be thrown away.
AREA ?=
record:
	$(GO) test -C lab ./serverdiff -run '^TestRecord$$' -v -count=1 -timeout 2h -server='$(SERVER)' -token='$(TOKEN)' -area='$(AREA)'

# Drives a real kube-apiserver and this server with the same generated sequences, and ends with the first difference that
# lab/serverdiff/testdata/known.txt does not list, shrunk. SEED draws other sequences. It makes a namespace for each sequence and deletes what it made; controllers that act
# on the objects make differences of their own: RESOURCES=configmaps,secrets leaves the others out.
THROWAWAY ?=
SERVER ?=
TOKEN ?=
RESOURCES ?=
SEQUENCES ?= 200
differential:
	$(GO) test -C lab ./serverdiff -run TestDifferential -v -count=1 -timeout 2h -server='$(SERVER)' \
	  -token='$(TOKEN)' -resources='$(RESOURCES)' $(if $(THROWAWAY),-throwaway) -rapid.checks=$(SEQUENCES) -rapid.seed=$(SEED) -rapid.nofailfile

# Installs the definitions of eight other projects in a server, and runs gateway-api's own tests of its
# rules against it. It downloads some hundred megabytes.
definitions:
	cd kubectltest && $(GO) test -run TestDefinitionsOfOthers -definitions -v -count=1 .

# Other projects' controllers, as released, under the laws: docs/evidence/third-party.md and the table of operators.md.
# UPDATE=-update rewrites both. Released operators are downloaded and built, each for minutes.
# sample-controller is a main, which cannot be imported: the go command is shown its file in an overlay.
UPDATE ?=
thirdparty:
	@mkdir -p bin
	@cd thirdparty && at=$$($(GO) mod download -json k8s.io/sample-controller | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
	  printf '{"Replace": {"%s/samplecontroller/controller.go": "%s/controller.go"}}\n' "$$PWD" "$$at" \
	    >../bin/thirdparty.json
	cd thirdparty && $(GO) test $(TESTFLAGS) -count=1 -tags thirdparty -overlay ../bin/thirdparty.json \
	  $$($(GO) list -tags thirdparty ./... | grep /thirdparty/ | grep -v '/operators$$') $(UPDATE)
	cd thirdparty && $(GO) test -count=1 -tags thirdparty -timeout 8h ./operators $(UPDATE)
	cd thirdparty && $(GO) test -count=1 . $(UPDATE)

# Writes the pages of evidence under docs, before a release: clauses, checklist, track record and others.
VERSION ?= unreleased
evidence:
	$(GO) run -C lab ./cmd/evidence -version '$(VERSION)'

# Changes one place of the controllers at a time and lists the changes that no check notices, before a release: an
# hour of one core. MUTATE=--only=ref does it for one package. See docs/inside/mutation.md.
MUTATE ?=
mutate:
	$(GO) run -C lab ./cmd/mutate $(MUTATE)

# Opens pages in a real browser: what they show, what cannot run in them, and what
# axe-core, from npm where there is one, has against them. It installs Debian's Chromium where none is.
AXE := bin/axe/package/axe.min.js
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  { apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } || \
	  echo "Chromium cannot be installed here"
	@mkdir -p bin/axe; [ -f $(AXE) ] || ! command -v npm >/dev/null || \
	  (cd bin/axe && npm pack --silent axe-core@4 >/dev/null && tar xzf axe-core-*.tgz package/axe.min.js) || \
	  echo "axe-core cannot be had from npm"
	cd browser && $(GO) test -v -count=1 . $$([ ! -f ../$(AXE) ] || echo -axe=$(CURDIR)/$(AXE))

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
	cd kubectltest && $(GO) test -run TestKubectl -update .

clean:
	rm -rf bin
