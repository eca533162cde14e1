package main

import (
	"strings"

	"github.com/untoldkit/untold/cook"
)

// partTexts say what has changed about a tile, by the parts of its key.
var partTexts = map[string]string{
	"code": "this version makes tiles in another way", "options": "settings of tiles", "place": "its cell",
	"objects": "objects, their geometry or their places", "materials": "materials or their images",
	"levels": "settings of levels", "border": "how much lies in the tiles beside it",
}

// explainText says in a line why something is as it is.
func explainText(e *cook.Explanation) string {
	name := oneLine(e.Name) + ": "
	switch {
	case e.Kind == "unknown":
		return name + "there is no tile, node or object of this name"
	case e.Kind == "object" && len(e.Tiles) == 0:
		return name + e.Why
	case e.Kind == "object":
		return name + "in " + strings.Join(e.Tiles, ", ") + " (" + e.Why + ")"
	case e.How != "made":
		return name + "taken from the " + strings.Replace(e.How, "earlier", "last", 1) + ", nothing of it has changed"
	case e.Anew:
		return name + "made, as --full makes everything"
	case e.New:
		return name + "made, the last cook had none"
	case e.Kind == "node":
		return name + "made, because something below it has changed or there was none"
	case len(e.Changed) == 0:
		return name + "made, because its files were not as the last cook had left them"
	}
	var parts []string
	for _, p := range e.Changed {
		parts = append(parts, partTexts[p])
	}
	return name + "made, because this has changed: " + strings.Join(parts, "; ")
}
