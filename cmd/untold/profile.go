package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/untoldkit/untold/internal/plainfile"
)

// profileName is the file with settings beside a scene.
const profileName = "untold.yaml"

// maxProfile is the longest file of settings that is read, in bytes. Every
// setting there is takes a hundredth of it.
const maxProfile = 1 << 20

// profile is a file of settings.
type profile struct {
	path    string
	named   bool // by --config; else found beside a scene
	there   bool // the file was read
	entries []profileEntry
}

// profileEntry is a line of a profile.
type profileEntry struct {
	key   *yaml.Node
	value *yaml.Node
}

// fail puts file and line before an error.
func (p *profile) fail(e profileEntry, err error) error {
	return fmt.Errorf("%s:%d: %w", p.path, e.key.Line, err)
}

// readNamed reads the profile that --config names.
func readNamed(path string) (*profile, error) {
	p := &profile{path: path, named: true}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return p, nil
}

// readBeside reads the profile beside a file; without one there are no
// entries.
func readBeside(file string) (*profile, error) {
	p := &profile{path: profileOf(file)}
	if err := p.read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return p, nil
}

// profileOf is where the settings beside a scene, or in a folder of scenes, are, if there
// are any.
func profileOf(scene string) string {
	if st, err := os.Stat(scene); err == nil && st.IsDir() {
		return filepath.Join(scene, profileName)
	}
	return filepath.Join(filepath.Dir(scene), profileName)
}

// has reports whether a file, which may be nil, has an entry.
func (p *profile) has(key string) bool {
	return p != nil && slices.ContainsFunc(p.entries, func(e profileEntry) bool { return e.key.Value == key })
}

// read fills in the entries. Errors name the path.
func (p *profile) read() error {
	data, err := plainfile.Read(p.path, maxProfile)
	if errors.Is(err, plainfile.ErrTooLarge) {
		return fmt.Errorf("%w; settings take a few lines: is this the right file?", err)
	}
	if err != nil {
		return err
	}
	p.there = true
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	if len(doc.Content) == 0 {
		return nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: expected keys and values, such as \"tile-size: 25\"", p.path, top.Line)
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		e := profileEntry{top.Content[i], top.Content[i+1]}
		name := flagName(e.key.Value)
		if first, twice := lines[name]; twice {
			return p.fail(e, fmt.Errorf("key %q stands in line %d already", e.key.Value, first))
		}
		lines[name] = e.key.Line
		p.entries = append(p.entries, e)
	}
	return nil
}

// flagName is the flag that a key stands for.
func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

// freeText are keys of a profile that anybody may use.
var freeText = []string{"name", "note", "id"}

// sceneSettings are the keys that a profile beside a scene may set: what
// decides how this scene is cooked, what its budgets are, and no more. Such a file may have come with
// the scene from anywhere, so everything else is the user's alone: what is
// written where, what is trusted, caches, networks, and how much of the machine
// is used. New flags are the user's until they stand here.
var sceneSettings = []string{
	"partition", "floor-count", "floor-band-height", "scene-profile", "tier-radius", "tier-matching", "untagged-semantic-tier",
	"kdtree-balance", "min-objects-per-tile-tier",
	"compat", "tile-size", "tile-size-x", "tile-size-y", "tile-size-z", "auto-tile-size", "tile-triangles", "clip", "split-max-tiles",
	"sample-fraction", "perimeter-depth", "recenter",
	"lod", "hlod", "lod-level", "hlod-level", "lod-error-pixels", "lod-max-error-pixels", "lod-fov", "lod-height",
	"lod-min-triangles", "whole-limit", "view-distance", "pyramid", "hlod-atlas", "hlod-max-texture",
	"compress", "container-version", "merge", "instances", "scene", "up", "units", "textures", "astc-block", "texture-quality", "max-texture",
	"fail-if",
}

// userParameters are the groups of runtime parameters that a profile beside a
// scene may not set.
var userParameters = []string{"cache", "http"}

// trusted refuses an entry that a profile beside a scene may not have. What is
// neither a setting nor a parameter is left to those who know them.
func (p *profile) trusted(e profileEntry, isFlag func(string) bool) error {
	if p.named {
		return nil
	}
	key := e.key.Value
	group, _, _ := strings.Cut(key, ".")
	name := flagName(key)
	switch {
	case slices.Contains(userParameters, group):
	case slices.Contains(sceneSettings, name) || isParameter(key, e.value) || slices.Contains(freeText, key):
		return nil
	case !isFlag(name):
		return nil
	}
	return p.fail(e, fmt.Errorf("key %q: %w", key, errUntrusted))
}

// errUntrusted refuses what a file from anywhere may not decide.
var errUntrusted = errors.New("a file that lies beside a scene sets how the scene is cooked and streamed and its budgets, nothing else;" +
	" give the flag, or name a file of your own with --config")
