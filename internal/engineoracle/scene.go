package engineoracle

import (
	"errors"
	"fmt"
	"math"
)

// The modes that switch the engine's floor logic on.
const (
	modeQuadtree = "quadtree_floor"
	modeKDTree   = "kdtree_floor"
)

// Scene is what the engine holds after a load.
type Scene struct {
	Version   int64
	Mode      string
	Floors    bool    // floor logic is on
	BatchCell float32 // max(tile_size.x, tile_size.z), else the default streaming radius
	Tiles     []Tile
	Bucket    *Tile
	Lights    []Light
	Cameras   []Camera
	Zone      *[2][3]float32
	// Unusable is the reason why the engine refuses the scene although the
	// text decodes: a colour table against the rules. Nil when it loads.
	Unusable error
	Warnings []string // what the engine would log
}

// Tile is a registered tile stub. Distances are in metres, after clamping.
type Tile struct {
	ID, Path         string
	Size             int64
	Min, Max, Center [3]float32
	Streaming        float32
	Unload           float32
	Prefetch         float32 // 0: automatic
	Priority         int64
	HLOD             *Level // the first entry
	LODs             []Level
	Interior         bool
	Floor            *int64 // nil without floor logic or floor_id
	Node             string
	Changed          bool // a distance was clamped by more than a millimetre, or a level dropped
}

// Level is a coarser representation.
type Level struct {
	Path   string
	Switch float32
}

// Light and Camera hold what has no default of its own.
type (
	Light struct {
		Name, Kind string
	}
	// Camera is an authored camera.
	Camera struct {
		Name string
	}
)

// Decode does what the engine does with a manifest's text up to the registered
// stubs. The error is an *Error: the engine refuses the whole manifest.
func Decode(data []byte) (s *Scene, err error) {
	v, err := parse(data)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			s, err = nil, e
		}
	}()
	return decodeScene(asKeyed(v, "manifest")), nil
}

// defaults is streaming_defaults.
type defaults struct {
	streaming, unload float32
	prefetch          *float32
	priority          int64
}

func decodeScene(top keyed) *Scene {
	s := &Scene{Version: required(top, "version", asInt)}
	s.Mode = or(ifPresent(top, "partitioning_mode", asString), "")
	s.Floors = s.Mode == modeQuadtree || s.Mode == modeKDTree
	d := required(top, "streaming_defaults", func(v any, path string) defaults {
		k := asKeyed(v, path)
		return defaults{
			required(k, "streaming_radius", asFloat), required(k, "unload_radius", asFloat),
			ifPresent(k, "prefetch_radius", asFloat), required(k, "priority", asInt),
		}
	})
	s.BatchCell = or(ifPresent(top, "tile_size", func(v any, path string) float32 {
		k := asKeyed(v, path)
		x, _, z := required(k, "x", asFloat), required(k, "y", asFloat), required(k, "z", asFloat)
		return max(x, z)
	}), d.streaming)
	s.Lights = or(ifPresent(top, "scene_lights", listOf(decodeLight)), nil)
	s.Cameras = or(ifPresent(top, "scene_cameras", listOf(decodeCamera)), nil)
	s.Unusable = or(ifPresent(top, "colorLUT", decodeLUT), nil)
	tiles := required(top, "tiles", listOf(decodeTile))
	bucket := ifPresent(top, "shared_bucket", decodeTile)
	if z := ifPresent(top, "interior_zone", decodeBox); z != nil && z.complete() {
		s.Zone = &[2][3]float32{[3]float32(z.min), [3]float32(z.max)}
	}
	for i := range tiles {
		t := &tiles[i]
		if !t.bounds.complete() || len(t.center) < 3 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("tile %q skipped: fewer than three numbers", t.id))
			continue
		}
		s.Tiles = append(s.Tiles, s.register(t, d))
	}
	if bucket != nil && bucket.bounds.complete() && len(bucket.center) >= 3 {
		b := bucket.stub()
		inf := float32(math.Inf(1))
		b.Streaming, b.Unload = or(bucket.streaming, inf), or(bucket.unload, inf)
		b.Prefetch = or(bucket.prefetch, or(d.prefetch, 0)) // not clamped
		b.Priority = or(bucket.priority, d.priority)
		s.Bucket = &b
	}
	return s
}

// box is {min, max} before its lengths are looked at.
type box struct{ min, max []float32 }

func decodeBox(v any, path string) box {
	k := asKeyed(v, path)
	return box{required(k, "min", asFloats), required(k, "max", asFloats)}
}

func (b box) complete() bool { return len(b.min) >= 3 && len(b.max) >= 3 }

// rawTile is a decoded tile or bucket.
type rawTile struct {
	id, path                    string
	size                        int64
	bounds                      box
	center                      []float32
	streaming, unload, prefetch *float32
	priority, floor             *int64
	node                        *string
	hlods, lods                 []Level
	interior                    bool
}

func decodeTile(v any, path string) rawTile {
	k := asKeyed(v, path)
	t := rawTile{
		id: required(k, "tile_id", asString), path: required(k, "path_relative_to_manifest", asString),
		size: required(k, "file_size_bytes", asInt), bounds: required(k, "bounds", decodeBox), center: required(k, "center", asFloats),
		streaming: ifPresent(k, "streaming_radius", asFloat), unload: ifPresent(k, "unload_radius", asFloat),
		prefetch: ifPresent(k, "prefetch_radius", asFloat), priority: ifPresent(k, "priority", asInt),
		floor: ifPresent(k, "floor_id", asInt), node: ifPresent(k, "quadtree_node_id", asString),
		hlods:    or(ifPresent(k, "hlod_levels", listOf(decodeLevel)), nil),
		lods:     or(ifPresent(k, "lod_levels", listOf(decodeLevel)), nil),
		interior: or(ifPresent(k, "interior", asBool), false),
	}
	ifPresent(k, "semantic_tier", asString)
	ifPresent(k, "cell_bounds", decodeBox)
	return t
}

func decodeLevel(v any, path string) Level {
	k := asKeyed(v, path)
	return Level{required(k, "path", asString), required(k, "switch_distance", asFloat)}
}

// stub copies what needs no judgement.
func (t *rawTile) stub() Tile {
	return Tile{
		ID: t.id, Path: t.path, Size: t.size, Interior: t.interior, Node: or(t.node, ""),
		Min: [3]float32(t.bounds.min), Max: [3]float32(t.bounds.max), Center: [3]float32(t.center),
	}
}

// register fills in the defaults and clamps the distances.
func (s *Scene) register(t *rawTile, d defaults) Tile {
	out := t.stub()
	if s.Floors {
		out.Floor = t.floor
	}
	out.Priority = or(t.priority, d.priority)
	prefetch := t.prefetch
	if prefetch == nil {
		prefetch = d.prefetch
	}
	out.clamp(or(t.streaming, d.streaming), or(t.unload, d.unload), or(prefetch, 0), t.hlods, t.lods)
	if out.Changed {
		s.Warnings = append(s.Warnings, fmt.Sprintf("tile %q: distances were changed", t.id))
	}
	return out
}

// decodeLUT reads a colour table; the result is why the scene is refused.
func decodeLUT(v any, path string) error {
	k := asKeyed(v, path)
	required(k, "lutUri", asString)
	size := required(k, "lutSize", asInt)
	ifPresent(k, "viewTransform", asString)
	ifPresent(k, "look", asString)
	device := ifPresent(k, "displayDevice", asString)
	ifPresent(k, "exposure", asFloat)
	gamma := or(ifPresent(k, "gamma", asFloat), 1)
	lo, hi := or(ifPresent(k, "shaperMinStops", asFloat), 0), or(ifPresent(k, "shaperMaxStops", asFloat), 0)
	switch {
	case size < 2 || size > 64:
		return errors.New("colorLUT: the size is not 2 to 64")
	case device != nil && *device != "sRGB":
		return errors.New("colorLUT: the device is not sRGB")
	case !(gamma > 0):
		return errors.New("colorLUT: gamma is not above 0")
	case !(lo < hi):
		return errors.New("colorLUT: the shaper's stops are not in order")
	}
	return nil
}
