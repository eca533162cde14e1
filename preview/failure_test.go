package preview

import (
	"errors"
	"testing"

	"github.com/untoldkit/untold/runtime/event"
)

// Most loaders name the tile already: no message names it twice.
func TestFailureOf(t *testing.T) {
	for text, want := range map[string]string{
		"tile a_1, full: open a_1.untold: no such file": "tile a_1, full: open a_1.untold: no such file",
		"the format is unknown":                         "tile a_1: the format is unknown",
	} {
		if got := failureOf(&event.Event{Tile: "a_1", Err: errors.New(text)}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
