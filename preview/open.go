package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// ErrNoScene is matched by the errors of Open about paths where there is
// nothing to show.
var ErrNoScene = errors.New("preview: nothing to show")

// Scene is something to show. Nothing of it is read before it is shown.
type Scene struct {
	Name string
	// Path is the file that is watched for a new cook, "" for none.
	Path string
	// Load reads the scene. It is called again after a new cook, and must be safe
	// for concurrent use.
	Load func() (*Loaded, error)
}

// Loaded is a scene that was read.
type Loaded struct {
	// Source is what the runtime opens; its Manifest is set.
	Source runtime.Source
	// Everywhere is set when the scene shows whole, whatever the distance.
	Everywhere bool
	// Grade is the colour table of the manifest, nil for none; GradeError says why the
	// one that it names cannot be had.
	Grade      *cube.Table
	GradeError error
	// Took is how long the manifest took to come and be read, as far as is known: it counts
	// in the time to a picture.
	Took time.Duration

	asCooked *manifest.Manifest // of a scene that is shown whole, else nil
}

// streamed returns the manifest by which the scene streams.
func (l *Loaded) streamed() *manifest.Manifest {
	if l.asCooked != nil {
		return l.asCooked
	}
	return l.Source.Manifest
}

// Open returns the scenes behind a path: a manifest; a folder with manifests in
// it or one level below; a .untold file, or a folder of them, which are shown
// whole, without streaming.
func Open(path string) ([]Scene, error) {
	info, err := journal.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	switch {
	case info.IsDir():
		return openFolder(path)
	case IsGLTF(path):
		return nil, fmt.Errorf("%w in %s: a glTF scene is shown when it is cooked (untold cook)", ErrNoScene, path)
	case isPayload(path):
		return []Scene{payloadScene(path, filepath.Dir(path), []string{filepath.Base(path)})}, nil
	}
	return []Scene{manifestScene(path)}, nil
}

// IsGLTF reports whether a path names a glTF scene by its ending: such a one is
// shown when it is cooked.
func IsGLTF(path string) bool {
	return slices.Contains([]string{".glb", ".gltf"}, strings.ToLower(filepath.Ext(path)))
}

func isPayload(path string) bool { return strings.EqualFold(filepath.Ext(path), ".untold") }

func manifestScene(path string) Scene {
	return Scene{Name: sceneName(path), Path: path, Load: func() (*Loaded, error) {
		m, err := manifest.LoadStreamed(path)
		if err != nil {
			return nil, err
		}
		l := &Loaded{Source: runtime.Source{Path: path, Manifest: m}}
		l.grade(filepath.Dir(path), m)
		return l, nil
	}}
}

func openFolder(dir string) ([]Scene, error) {
	var scenes []Scene
	for depth := range 2 {
		for _, path := range jsonFiles(dir, depth) {
			// Reports and the like lie beside manifests.
			if m, err := manifest.LoadStreamed(path); err == nil && m.Tiles != nil {
				scenes = append(scenes, manifestScene(path))
			}
		}
		if len(scenes) > 0 {
			return scenes, nil
		}
	}
	files, err := journal.Names(dir)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	var names []string
	for _, name := range files {
		if isPayload(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w in %s: neither a manifest nor a .untold file; untold cook makes both", ErrNoScene, dir)
	}
	return []Scene{payloadScene(dir, dir, names)}, nil
}

// jsonFiles lists the JSON files of a folder, or of the folders right below it.
func jsonFiles(dir string, depth int) (out []string) {
	if depth > 0 {
		list, _ := os.ReadDir(dir) // without it there is nothing to show
		for _, d := range list {
			if st, err := os.Stat(filepath.Join(dir, d.Name())); err == nil && st.IsDir() && !strings.HasPrefix(d.Name(), ".") {
				out = append(out, jsonFiles(filepath.Join(dir, d.Name()), depth-1)...)
			}
		}
		return out
	}
	names, _ := journal.Names(dir)
	for _, name := range names {
		if filepath.Ext(name) == ".json" {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out
}

// payloadScene shows .untold files without a manifest.
func payloadScene(path, dir string, names []string) Scene {
	return Scene{Name: filepath.Base(path), Path: path, Load: func() (*Loaded, error) {
		m, err := wrapPayloads(dir, names)
		if err != nil {
			return nil, err
		}
		return &Loaded{Source: runtime.Source{Path: path, Base: dir, Manifest: m}, Everywhere: true}, nil
	}}
}

// everywhere is a radius that no scene exceeds, in metres.
const everywhere = 1e7

// wrapPayloads makes a manifest that has every file as a tile that shows from
// anywhere. Of several files only those with full geometry are taken, if any.
func wrapPayloads(dir string, names []string) (*manifest.Manifest, error) {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: everywhere, UnloadRadius: 2 * everywhere, Priority: manifest.DefaultPriority},
	}
	var full []bool
	for _, name := range names {
		if err := payloadpath.Check(name); err != nil {
			return nil, err
		}
		r, err := format.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		h, size := r.Header(), r.Size()
		_, world := r.Placed()
		if err := r.Close(); err != nil {
			return nil, err
		}
		b := geom.Box{Min: geom.FromF32(world.Min), Max: geom.FromF32(world.Max)}
		if b.IsEmpty() || !b.Min.IsFinite() || !b.Max.IsFinite() {
			b = geom.Box{}
		}
		m.Tiles = append(m.Tiles, manifest.Tile{
			ID: strings.TrimSuffix(name, filepath.Ext(name)), Path: name, FileSizeBytes: size,
			Bounds: manifest.BoundsOf(b), Center: b.Center(),
		})
		full = append(full, h.FileType == format.FileTile || h.FileType == format.FileShared)
	}
	if slices.Contains(full, true) {
		i := -1
		m.Tiles = slices.DeleteFunc(m.Tiles, func(manifest.Tile) bool { i++; return !full[i] })
		m.Pyramid = nil // its nodes show all tiles
	}
	return m, nil
}

// whole makes a scene show all of its tiles, in full detail, from anywhere.
func (l *Loaded) whole() {
	m := *l.Source.Manifest
	m.StreamingDefaults = manifest.StreamingDefaults{StreamingRadius: everywhere, UnloadRadius: 2 * everywhere, Priority: m.StreamingDefaults.Priority}
	m.Tiles, m.InteriorZone, m.Textures, m.Pyramid = slices.Clone(m.Tiles), nil, nil, nil
	for i := range m.Tiles {
		t := &m.Tiles[i]
		t.StreamingRadius, t.UnloadRadius, t.PrefetchRadius, t.Interior = nil, nil, nil, false
		t.HLODLevels, t.LODLevels, t.FloorID = nil, nil, nil
	}
	if m.SharedBucket != nil {
		bucket := *m.SharedBucket
		bucket.StreamingRadius, bucket.UnloadRadius, bucket.PrefetchRadius = nil, nil, nil
		m.SharedBucket = &bucket
	}
	l.Source.Manifest, l.asCooked, l.Everywhere = &m, l.Source.Manifest, true
}

// reach widens the query of the runtime for scenes that show from anywhere.
func (l *Loaded) reach(cfg *config.Config) {
	if l.Everywhere {
		cfg.MaxQueryRadius = math.Max(cfg.MaxQueryRadius, everywhere)
	}
}

// modified returns a stamp that changes when a file is written anew; "" while
// it is not there.
func modified(path string) string {
	info, err := journal.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return "?" + err.Error()
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}
