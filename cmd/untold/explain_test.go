package main

import (
	"testing"

	"github.com/untoldkit/untold/cook"
)

// TestExplainText: what is said about a tile follows from what the cook tells.
func TestExplainText(t *testing.T) {
	for _, c := range []struct {
		e    cook.Explanation
		want string
	}{
		{cook.Explanation{Kind: "unknown"}, "a: there is no tile, node or object of this name"},
		{cook.Explanation{Kind: "tile", How: "made", Anew: true}, "a: made, as --full makes everything"},
		{cook.Explanation{Kind: "node", How: "made", Anew: true}, "a: made, as --full makes everything"},
		{cook.Explanation{Kind: "tile", How: "made", New: true}, "a: made, the last cook had none"},
		{cook.Explanation{Kind: "tile", How: "made"}, "a: made, because its files were not as the last cook had left them"},
		{cook.Explanation{Kind: "tile", How: "made", Changed: []string{"place", "border"}}, "a: made, because this has changed: its cell; how much lies in the tiles beside it"},
		{cook.Explanation{Kind: "tile", How: "earlier cook"}, "a: taken from the last cook, nothing of it has changed"},
		{cook.Explanation{Kind: "node", How: "store"}, "a: taken from the store, nothing of it has changed"},
	} {
		c.e.Name = "a"
		if got := explainText(&c.e); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
