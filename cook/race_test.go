//go:build race

package cook

// raceEnabled leaves out what would take minutes; make test runs it without the
// race detector.
const raceEnabled = true
