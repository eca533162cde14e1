package hud

import (
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
)

// Model is all that the overlay shows. Zero parts are left out.
type Model struct {
	Width, Height int // of the picture in pixels
	// Covered is how much of the lower left corner lies under what others show.
	Covered Corner

	Panel   *Panel
	Map     *Map
	Help    []HelpGroup
	Chooser *Chooser
	// View names the view when it is not the usual one; Note says in a sentence
	// what its colours mean.
	View, Note string
	Legend     []LegendEntry
	// Message is news for a few seconds, Alert a fault that stays.
	Message, Alert string
	Cursor         *Cursor
	Occlusion      *runtime.Occlusion
	// Missing is the share of what is wanted that is still on its way, above 0
	// to 1: a slim bar at the upper edge shows the rest. 0: no bar.
	Missing float64
}

// Corner is a corner of the picture, in pixels.
type Corner struct{ Width, Height int }

// Panel is what the panel of figures shows.
type Panel struct {
	Times     []time.Duration // of the latest frames, the last one newest
	Target    time.Duration   // a line in the graph; 0: 60 frames a second
	Stats     runtime.Stats
	Render    render.Stats
	Tiles     Counts
	Camera    runtime.Camera
	Speed     float64 // metres per second of a key that is held; 0: not shown
	Mode      string  // of the camera
	Recording bool
	Paused    bool
	Frozen    bool // culling
	Batching  bool // static batching is on
	// ErrorPixels is how many pixels the greatest error covers of what is drawn;
	// shown while nodes of a pyramid are there.
	ErrorPixels float64
	Pressure    memory.PressureLevel
}

// Counts are tiles by state.
type Counts struct{ Parsed, Parsing, Failed, Fallback int }

// Count sorts the tiles of a snapshot by state.
func Count(tiles []runtime.TileStatus) (c Counts) {
	for i := range tiles {
		switch t := &tiles[i]; {
		case t.State == runtime.TileParsed:
			c.Parsed++
		case t.State == runtime.TileParsing:
			c.Parsing++
		case t.State == runtime.TileFailed:
			c.Failed++
		case t.Resident != 0:
			c.Fallback++
		}
	}
	return c
}

// Cursor describes the tile under the cursor.
type Cursor struct {
	Status   runtime.TileStatus // zero State etc. for an idle tile
	Info     runtime.TileInfo
	Distance float64 // metres from the camera to its box
}

// Map is a scene from above, north (-Z) up.
type Map struct {
	Tiles  []MapTile
	Bounds geom.Box // of all scenes
	Camera runtime.Camera
	// Rings are radii around the camera in metres, drawn from the largest.
	Rings []MapRing
}

// MapTile is a tile's box in the world.
type MapTile struct {
	Box   geom.Box
	Color Color
	Fill  bool
}

// MapRing is a circle around the camera.
type MapRing struct {
	Radius float64
	Color  Color
}

// HelpGroup is a block of the help.
type HelpGroup struct {
	Title string
	Keys  [][2]string // key and what it does
}

// LegendEntry explains a colour.
type LegendEntry struct {
	Color Color
	Text  string
}

// Chooser is the list of scenes.
type Chooser struct {
	Names    []string
	Current  int
	Selected int
}
