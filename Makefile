# make demo   everything a fresh Debian or Ubuntu machine with Go needs, then
#             generate, cook, validate, inspect and fly through a city, and show
#             it in a window, or in a picture where there is no display
# make test   all tests, and with the race detector those of packages in which goroutines
#             share memory; test-race: all tests with it
# make lint   gofumpt, go vet, staticcheck
# make bench  benchmarks; each carries its own baseline
# make fuzz   every fuzz target for FUZZTIME (30s); fuzz-short, fuzz-long and
#             fuzz-replay: see CONTRIBUTING.md
# make test-s3 the tests of buckets against a real S3 server on loopback (opt-in)
# make test-farm what untold farm slurm prints, on a Slurm cluster on loopback (opt-in)
# make test-k8s what untold farm kubernetes prints, against the API's types (opt-in)
# make test-k8s-api the same on an API server on loopback, with nodes that run it (opt-in)
# make test-arm64 what amd64 and arm64 cook, byte for byte, by an emulator (opt-in)
# make test-web what the page shows in chromium, beside the preview (opt-in; three of the
#             tests are part of make test where there is a browser)
# make pictures pictures of docs/images, taken again (opt-in, needs make build and OpenGL;
#             PICTURES=-list names them)
# make fused  nothing that a cook writes depends on how a machine rounds
# make hashes reproducible builds; make vulncheck: known vulnerabilities
# make install PREFIX=/usr/local DESTDIR=, uninstall: programs, completions, man pages
# make release archives for all systems, checksums, bills of materials; lint-packaging: what
#             installs and calls the program, by its own linters (opt-in)

GO       ?= go
FUZZTIME ?= 30s
FUZZTOTAL ?= 8h
FUZZDIR  ?= $(OUT)/fuzz
OUT      ?= out
BIN      ?= bin
PREFIX   ?= /usr/local
DESTDIR  ?=
TOOLS    := -modfile=scripts/tools.mod

# -trimpath and an empty build id: the same sources give the same binary.
BUILDFLAGS := -trimpath -ldflags="-s -w -buildid="

.PHONY: all deps-build build web static demo test test-race lint fmt bench fuzz fuzz-short fuzz-long fuzz-replay vulncheck hashes pie deps clean cross install uninstall release lint-packaging test-web test-s3 test-farm test-k8s test-k8s-api test-arm64 fused pictures

all: build

deps:
	@NOPREVIEW=$(NOPREVIEW) GO="$(GO)" sh scripts/install-deps.sh

deps-build:
	@NOPREVIEW=$(NOPREVIEW) GO="$(GO)" sh scripts/install-deps.sh build

# bin/untold is static and has all but the window; its preview command starts
# bin/untold-preview, the same program linked against OpenGL. NOPREVIEW=1 leaves
# that one out. It is loaded at an address of the system's choice (PIE) where the
# go command can do that: C code and a driver run in it.
PIE = $(shell $(GO) list -buildmode=pie unsafe >/dev/null 2>&1 && echo -buildmode=pie)

build: deps-build web static
ifneq ($(NOPREVIEW),1)
	CGO_ENABLED=1 $(GO) build $(PIE) $(BUILDFLAGS) -o bin/untold-preview ./cmd/untold
endif

# The page that untold serve shows: the viewer in WebAssembly, which the programs
# embed. Without it they build all the same, and say so when they are asked for it.
web:
	@GO="$(GO)" sh scripts/build-web.sh

static:
	CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -o $(BIN)/untold ./cmd/untold
	cp internal/licenses/THIRD_PARTY_LICENSES LICENSE $(BIN)/

# What make build made goes below PREFIX, of which DESTDIR is the root.
install:
	@BIN="$(BIN)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" sh scripts/install.sh

uninstall:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" sh scripts/install.sh remove

# Of the commit: there must be no other changes. Minutes, for six systems.
RELEASE = $(GO) run ./scripts/release -o $(OUT)/release $(if $(RELEASETARGETS),-targets "$(RELEASETARGETS)") $(RELEASEFLAGS)
release: $(if $(findstring -without-page,$(RELEASEFLAGS)),,web)
	GO="$(GO)" $(RELEASE)

# Formula, workflows, hooks, shell scripts: see CONTRIBUTING.md. Needs the module proxy.
lint-packaging:
	@GO="$(GO)" sh scripts/lint-packaging.sh

demo: build
	$(GO) run ./scripts/gen -o $(OUT)/demo/city.glb
	bin/untold cook $(OUT)/demo/city.glb -o $(OUT)/demo/city --report $(OUT)/demo/report.html
	bin/untold validate $(OUT)/demo/city
	bin/untold inspect $(OUT)/demo/city --limit 12
	bin/untold inspect $(OUT)/demo/city/city.json --map $(OUT)/demo/map.png --map-size 1000
	bin/untold simulate $(OUT)/demo/city/city.json --fly-through --fail-if 'undrawn>0' --plot $(OUT)/demo/flight.svg
	@echo
	@echo "The cooked city lies in $(OUT)/demo/city; $(OUT)/demo has a report.html, a map.png and the"
	@echo "flight.svg of a run through it. Look closer with"
	@echo "  bin/untold inspect $(OUT)/demo/city/tiles/tile_3_0_3.untold"
	@if [ "$(NOPREVIEW)" = 1 ]; then :; \
	elif [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
	  echo "This window streams it: W A S D and the mouse fly, F1 lists the keys, Escape ends."; \
	  bin/untold preview $(OUT)/demo/city/city.json; \
	else \
	  bin/untold preview $(OUT)/demo/city/city.json --headless --no-hud --size 1280x720 --screenshot $(OUT)/demo/demo.png && \
	  echo "There is no display for a window: $(OUT)/demo/demo.png is what it would show."; \
	fi

# Packages in which goroutines share memory, in order. make test runs these with the race
# detector too, all but what is slow; a test finds what is missing here.
CONCURRENT = ./cmd/untold ./cook ./cook/diff ./cook/gltfexport ./cook/gltfscene ./cook/internal/bake \
 ./cook/internal/texture ./cook/manifestbuild ./cook/measure ./cook/mesh ./cook/publish \
 ./cook/tiles3d ./cook/verify ./examples/authserver ./format ./internal/atomicfile \
 ./internal/blob ./internal/blob/s3 ./internal/imagediff ./internal/journal \
 ./internal/mailbox ./internal/picture ./internal/workpool ./manifest ./preview \
 ./preview/internal/batch ./preview/render ./preview/surface ./preview/web/internal/decoder \
 ./runtime ./runtime/memory ./runtime/payload ./runtime/remote \
 ./runtime/remote/internal/diskcache ./runtime/serve ./runtime/simulate ./runtime/texture \
 ./runtime/texture/texfile ./scripts/kubenode ./scripts/nodebench ./scripts/pictures
# Tests that do less with the race detector, and where they are.
SLOW   = TestCompressModels|TestDeltaWithinLimit|TestRepackMemory|TestEngineLoadsAssets|TestConvertAssets|TestEngineLoadsGeneratedScenes|TestLevelErrorsKeepTheLimit|TestRealModels|TestSchemaAndDecoderAgree|TestCookRemembers|TestCrowds|TestParts|TestSoakOutOfCore|TestStages|TestStoreIsShared|TestStress|TestAnyScene|TestTexturesIgnoreJobs|TestBordersOfACity|TestBytes|TestCityFlight|TestFitDistances|TestGroveKeepsItsVolume|TestThinThingsKeepTheirArea|TestLevelsOfKits|TestLevelsOfTilesAlone|TestPyramidOfAForest|TestSceneProperties|TestStoreHeals|TestTextureModesLeaveNothing|TestLevelsOfTheCity|TestPyramid|TestNodesShareTextures|TestPreviewIsSimulate|TestPreviewIsSimulateOfAWorld|TestEncodedBytes|TestEncodeHigh|TestEncodeDecode|TestEdits|TestRepackedWithin|TestOpenIsLoad|TestBudgetSplitLeavesNothingUndrawn|TestShortMemory|TestTilesAreIndependent|TestInspectCoversDecoding|TestQuality|TestFailingDisk|TestStoppedCache|TestPartsProperty|TestPyramidFadesProperty|TestPyramidProperty|TestPyramidKeepsToTheBudget|TestBudgetSweep|TestShortMemorySettles|TestWindowsReachEveryTile|TestValuesAreBounded|TestShadowsOfFadesHaveNoGaps|TestBatchedFlight|TestOverlap|TestGeometryIsLetGo|TestCookKTX2|TestCookIgnoresJobs|TestFilesKeepWhatLevelsHave|TestSplit16|TestSplitPlan|TestStateOfParts|TestCreasesKeepShading|TestPyramidTextures|TestCompressedTextures|TestDeepHierarchy|TestAgainstModeler|TestSpheres|TestColumn|TestRunProperties|TestTextureModes|TestShards|TestRunStops|TestDamagedScenesLeaveNothing|TestImagesAreRemembered|TestPlanReads|TestRunOfficeFloors
SLOWIN = ./cmd/untold ./cook ./format ./cook/diff ./cook/gltfexport ./cook/gltfscene ./cook/gltfscene/internal/draco ./cook/internal/pyramid ./cook/internal/texture ./cook/measure ./cook/mesh ./cook/meshfile ./cook/publish ./cook/simplify ./internal/astc ./internal/picture ./manifest ./preview ./preview/render ./runtime ./runtime/remote ./runtime/simulate
# Those of them that make test runs with it too: goroutines, cooks or processes at one thing.
RACED  = TestCookIgnoresJobs TestFailingDisk TestImagesAreRemembered TestRunStops TestShards TestStoppedCache TestStoreIsShared TestStress TestTexturesIgnoreJobs
$(foreach t,$(filter-out $(subst |, ,$(SLOW)),$(RACED)),$(error RACED: $t is not in SLOW))
# Tests that take long with the race detector and in which no goroutines meet that do not in
# other tests: make test-race alone runs these with it.
SERIAL = TestBatchesLookTheSame TestBench TestBudgetBelowBrokenNodes TestDeclaredErrors \
 TestDecodeFlippedBytes TestDecodeMemoryIsBounded TestDraftProperty TestEveryCodeIsProduced \
 TestHostileJournals TestNodesLeaveRoomForDetail TestOptimizeOrderAssets TestPagesAreMadeAhead \
 TestPagesComeAndGo TestPlanOfTerrain TestPlanningMemory TestSalvage TestShadowsSettle \
 TestShortMemorySettlesOutOfCore TestSplitAssets TestStrictnessOfEveryKey TestTriangleBudget \
 TestTriangleBudgetHolds TestTriangleBudgetIsCalm TestTriangleBudgetRests TestTune
space := $(subst ,, )
UNRACED = $(subst $(space),$$|,$(filter-out $(RACED),$(subst |, ,$(SLOW))) $(strip $(SERIAL)))
# At its end a program with the race detector waits for what still runs, a second if it is not
# told otherwise: two minutes of them for all packages' tests and the programs that they start.
RACE   = GORACE="atexit_sleep_ms=100 $$GORACE"
# Packages that measure, on one thread of their own.
ALONE  = $(shell $(GO) list ./scripts/lodbench/...)

# A test that goes on forever is stopped after this; a machine with other work takes long.
TIMEOUT = -timeout 60m
ALL     = $(filter-out $(ALONE),$(shell $(GO) list ./...))

# Where there is a browser some tests look at the page in it, too; make test-web runs all.
BROWSER = $(shell for b in chromium chromium-browser google-chrome; do command -v $$b >/dev/null 2>&1 && echo quick && break; done)

# make lint vets.
test: deps $(if $(BROWSER),web)
	UNTOLD_BROWSER=$(BROWSER) $(GO) test -vet=off $(TIMEOUT) $(ALL)
	$(RACE) $(GO) test -vet=off $(TIMEOUT) -race -short -skip '$(UNRACED)$$' $(CONCURRENT)
	$(GO) test -vet=off $(TIMEOUT) $(ALONE)

# Everything with the race detector, and without it what does less there. What make test
# runs, this does too. VET=-vet=off where make lint has vetted all.
test-race: deps
	$(RACE) $(GO) test $(VET) $(TIMEOUT) -race $(ALL)
	$(GO) test -vet=off $(TIMEOUT) -run '$(subst |,$$|,$(SLOW))$$' $(SLOWIN)
	$(GO) test $(VET) $(TIMEOUT) $(ALONE)

# Pictures and input in a real browser, software GL; ten minutes on two quiet cores.
test-web: web
	UNTOLD_BROWSER=1 $(GO) test -count=1 $(TIMEOUT) -run TestBrowser -v ./cmd/untold

# Builds a server from the module proxy into a temporary folder.
test-s3:
	@GO="$(GO)" sh scripts/test-s3.sh

# Needs root, apt-get install slurm-wlm munge, and nothing else that is called so.
test-farm:
	@GO="$(GO)" bash scripts/slurm-local.sh

# Needs apt-get install qemu-user-static; minutes.
test-arm64:
	@GO="$(GO)" bash scripts/test-arm64.sh

# A module of its own; needs the module proxy.
test-k8s:
	cd scripts/k8scheck && $(GO) vet ./... && $(GO) test -count=1 ./...

# Needs root, apt-get install etcd-server, and the module proxy, from which it builds
# Kubernetes; the first time some 20 minutes of a processor.
test-k8s-api:
	@GO="$(GO)" OUT="$(OUT)" sh scripts/test-s3.sh bash scripts/kubernetes-local.sh

lint:
	@files=$$($(GO) tool $(TOOLS) gofumpt -l .); if [ -n "$$files" ]; then echo "gofumpt: run 'make fmt' for:"; echo "$$files"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool $(TOOLS) staticcheck ./...

# Reads the program for arm64, which fuses products with sums: see scripts/fused.
fused:
	@GO="$(GO)" $(GO) run ./scripts/fused

# Takes minutes without a GPU; -all, -only and others go into PICTURES.
pictures:
	$(GO) run ./scripts/pictures -untold $(BIN)/untold $(PICTURES)

fmt:
	$(GO) tool $(TOOLS) gofumpt -w .

bench:
	$(GO) test -run '^$$' -bench . -benchtime 2s ./format ./manifest ./partition ./cook/... ./runtime/...

fuzz:
	GO="$(GO)" $(GO) run ./scripts/fuzz -each $(FUZZTIME) -dir "$(FUZZDIR)"

# A minute for all targets together, building apart.
fuzz-short:
	GO="$(GO)" $(GO) run ./scripts/fuzz -total 1m -dir "$(FUZZDIR)"

# Turns of two minutes for FUZZTOTAL; goes on where the last one ended.
fuzz-long:
	GO="$(GO)" $(GO) run ./scripts/fuzz -long -total $(FUZZTOTAL) -dir "$(FUZZDIR)"

# Every input in the code, in testdata/fuzz and in FUZZDIR, once.
fuzz-replay:
	GO="$(GO)" $(GO) run ./scripts/fuzz -replay -dir "$(FUZZDIR)"

# Known vulnerabilities in what the programs call. Needs their database, so no
# part of the check.
vulncheck:
	@GO="$(GO)" sh scripts/vulncheck.sh

# Builds the preview twice: position independent, and the same bytes.
pie:
	@GO="$(GO)" PIE="$(PIE)" BUILDFLAGS='$(BUILDFLAGS)' sh scripts/pie.sh

# sha256 of the static binaries, each built twice; fails where the two differ.
hashes:
	@GO="$(GO)" HASHTARGETS="$(HASHTARGETS)" HASHRELEASE="$(HASHRELEASE)" sh scripts/hashes.sh

# For other systems, without cgo.
CROSS = windows/amd64 darwin/arm64 linux/arm64
cross:
	for t in $(CROSS); do \
	  CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build $(BUILDFLAGS) -o bin/untold-$${t%/*}-$${t#*/} ./cmd/untold || exit 1; done
	cp internal/licenses/THIRD_PARTY_LICENSES LICENSE bin/

clean:
	rm -rf bin $(OUT) preview/web/page/viewer.wasm.gz preview/web/page/wasm_exec.js
