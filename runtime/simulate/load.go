package simulate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

// ErrNotScenario is matched by errors about files that are neither a scenario
// nor a manifest.
var ErrNotScenario = errors.New("simulate: neither a scenario nor a manifest")

// The defaults of a run on a cooked scene.
const (
	cookedDT        = 16_666_667 * time.Nanosecond // six of them make a tick
	cookedParseTime = 50 * time.Millisecond
)

// Load reads a scenario, or a manifest, which is simulated with 60 frames per
// second and the runtime's defaults; its camera path is empty. Which of the two
// a file is goes by its content. A manifest that a scenario names is read as
// well, relative to the scenario's folder.
func Load(path string) (*Scenario, error) {
	data, err := readFile(path, manifest.MaxBytes)
	if err != nil {
		return nil, err
	}
	if manifest.IsPlan(data) {
		m, err := manifest.DecodePlan(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return Cooked(path, m), nil
	}
	keys := topKeys(data)
	switch has := func(k string) bool { return slices.Contains(keys, k) }; {
	case has("scene") || has("manifest"):
		s, err := Parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		dir := filepath.Dir(path)
		if s.Manifest == nil {
			if err := s.loadManifest(filepath.Join(dir, filepath.FromSlash(s.ManifestPath))); err != nil {
				return nil, err
			}
		}
		if err := s.readRegions(dir); err != nil || s.WorldPath == "" {
			return s, err
		}
		w, err := LoadWorld(filepath.Join(dir, filepath.FromSlash(s.WorldPath)))
		if err != nil {
			return nil, err
		}
		return s, s.Place(w)
	case has("tiles"):
		m, err := manifest.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return Cooked(path, m), nil
	case has("camera"):
		return nil, fmt.Errorf("%s: %w: it is a camera path, which goes with a manifest", path, ErrNotScenario)
	}
	if _, err := parse(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nil, fmt.Errorf(`%s: %w: a scenario has the key "scene" or "manifest", a manifest the key "tiles"`, path, ErrNotScenario)
}

// LoadCameraPath reads a camera path file.
func LoadCameraPath(path string) (*CameraPath, error) {
	data, err := readFile(path, MaxBytes)
	if err != nil {
		return nil, err
	}
	p, err := ParseCameraPath(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Cooked returns the scenario of a cooked scene, whose manifest stands at path.
// A representation takes as much GPU memory as the manifest estimates, or else
// as its file has bytes, and 50 ms to parse.
func Cooked(path string, m *manifest.Manifest) *Scenario {
	s := &Scenario{
		Name: filepath.Base(path), Cooked: true, ManifestPath: path, Manifest: m,
		Config: config.Default().For(m), DT: cookedDT, Path: defaultLens(),
		Latency: Latency{Default: cookedParseTime},
	}
	s.measure()
	return s
}

func (s *Scenario) loadManifest(path string) error {
	m, err := manifest.Load(path)
	if err != nil {
		return err
	}
	s.Manifest, s.ManifestPath = m, path
	s.measure()
	return nil
}

// measure fills Tiles from the manifest.
func (s *Scenario) measure() {
	beside := s.Tiles
	s.Tiles = make(map[string]Extra, len(s.Manifest.Tiles)+1)
	for _, t := range s.tilesBeside() {
		s.Tiles[t.ID] = beside[t.ID]
	}
	for i := range s.Manifest.Tiles {
		s.Tiles[s.Manifest.Tiles[i].ID] = measureTile(&s.Manifest.Tiles[i])
	}
	if s.Manifest.Pyramid != nil {
		for i := range s.Manifest.Pyramid.Nodes {
			n := &s.Manifest.Pyramid.Nodes[i]
			s.Tiles[n.ID] = Extra{HLOD: n.GPUBytes()}
		}
	}
	if s.Manifest.SharedBucket != nil {
		s.Tiles[s.Manifest.SharedBucket.ID] = measureTile(&s.Manifest.SharedBucket.Tile)
	}
}

// measureTile takes the sizes of a tile from its manifest.
func measureTile(t *manifest.Tile) Extra {
	x := Extra{GPUBytes: t.FileSizeBytes}
	if t.EstimatedMemoryBytes != nil {
		x.GPUBytes = *t.EstimatedMemoryBytes
	}
	if len(t.HLODLevels) > 0 {
		x.HLOD = t.HLODLevels[0].GPUBytes()
	}
	levels := slices.Clone(t.LODLevels)
	sortLODs(levels, make([]struct{}, len(levels)))
	for i := range levels {
		x.LODs = append(x.LODs, levels[i].GPUBytes())
	}
	return x
}

// readFile reads a whole file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	data, err := plainfile.Read(path, limit)
	var kind *plainfile.KindError
	switch {
	case errors.As(err, &kind) && kind.Mode.IsDir():
		return nil, fmt.Errorf("simulate: %s is a folder: name the .json file in it", path)
	case errors.Is(err, plainfile.ErrTooLarge):
		return nil, fmt.Errorf("simulate: %s has more than %d bytes; large scenes are manifests that cook writes, long paths have fewer keys", path, limit)
	case err != nil:
		return nil, fmt.Errorf("simulate: %w", err)
	}
	return data, nil
}

// topKeys lists the keys of the outermost object without reading their values;
// a rough look that needs no valid text.
func topKeys(data []byte) (keys []string) {
	p := &parser{data: data}
	depth, last := 0, ""
	for p.err == nil {
		c := p.space()
		switch {
		case p.pos >= len(p.data) || p.err != nil:
			return keys
		case c == '"':
			last = p.str()
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			keys = append(keys, last)
		}
		p.pos++
	}
	return keys
}
