// Package race says whether the race detector is built in. Tests that would take
// minutes with it do less then; make test runs these without it, too.
package race
