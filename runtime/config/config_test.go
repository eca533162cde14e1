package config

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/untoldkit/untold/manifest"
)

var update = flag.Bool("update", false, "rewrite the table of parameters in docs/runtime.md")

// The page lists every parameter as the code has it.
func TestParametersAreDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "runtime.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	const head = "| key | default | unit | range | meaning |\n|---|---|---|---|---|\n"
	at := strings.Index(page, head)
	if at < 0 {
		t.Fatal("the page has no table of parameters")
	}
	var table strings.Builder
	for _, p := range Params() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", p.Key, p.Default, p.Unit, p.Range, p.Meaning)
	}
	if want := page[:at+len(head)] + table.String(); want != page {
		if !*update {
			t.Fatal("the table of parameters is out of date: run go test ./runtime/config -update")
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The tag of every field says what it means and, of a number, in which range it is.
func TestEveryParameterIsDescribed(t *testing.T) {
	keys, c := map[string]bool{}, Default()
	for _, p := range Params() {
		if keys[p.Key] {
			t.Errorf("%s is listed twice", p.Key)
		}
		keys[p.Key] = true
		number := false
		switch p.at(&c).(type) {
		case *int, *int64, *float64:
			number = true
		}
		if p.Meaning == "" || number == (p.Range == "") || p.Range != "" && p.Range != rangeOf(&p) {
			t.Errorf("%s: range %q, meaning %q", p.Key, p.Range, p.Meaning)
		}
	}
}

// rangeOf is the text of a range as it was understood.
func rangeOf(p *Param) string {
	switch {
	case p.inf:
		return fmt.Sprintf("at least %v, or inf", p.lo)
	case p.hi >= math.MaxInt32:
		return fmt.Sprintf("at least %v", p.lo)
	}
	return fmt.Sprintf("%v to %v", p.lo, p.hi)
}

// valueOf returns the value of a parameter.
func valueOf(t *testing.T, c *Config, key string) any {
	p, err := lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	return reflect.ValueOf(c).Elem().FieldByIndex(p.field).Interface()
}

func TestConfigSet(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any
		want  any
	}{
		{"updateInterval", 0.25, 0.25},
		{"enableFrustumGate", false, false},
		{"maxConcurrentTileLoads", 7.0, 7},
		{"maxConcurrentTileLoads", 7, 7},
		{"geometryBudget", 1e9, int64(1e9)},
		{"floorProximityGateY", "inf", math.Inf(1)},
		{"handoff", "strict", HandoffStrict},
		{"lod.distances", []any{10.0, 20}, []float64{10, 20}},
		{"cache.dir", "/x", "/x"},
	} {
		cfg := Default()
		if err := cfg.Set(c.key, c.value); err != nil {
			t.Errorf("%s: %v", c.key, err)
			continue
		}
		if got := valueOf(t, &cfg, c.key); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s = %v, want %v", c.key, got, c.want)
		}
	}
}

func TestConfigSetRefuses(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any
		want  string // part of the message
	}{
		{"updateIntervall", 1.0, `did you mean "updateInterval"?`},
		{"maxConcurrentTilesLoad", 1.0, `did you mean "maxConcurrentTileLoads"?`},
		{"LOD.bias", 1.0, `did you mean "lod.bias"?`},
		{"zzz", 1.0, "unknown key"},
		{"updateInterval", "soon", "want a number"},
		{"updateInterval", -1.0, "out of range"},
		{"updateInterval", math.NaN(), "out of range"},
		{"updateInterval", "inf", "out of range"},
		{"maxConcurrentTileLoads", 1.5, "whole number"},
		{"enabled", 1, "true or false"},
		{"handoff", "loose", "covered or strict"},
		{"lod.distances", []any{"x"}, "list of numbers"},
		{"lod.distances", 3, "list of numbers"},
		{"lod", map[string]any{"bias": -1.0}, "out of range"},
		{"cache.dir", 3, "want a text"},
	} {
		cfg := Default()
		err := cfg.Set(c.key, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s = %v: %v, want %q", c.key, c.value, err, c.want)
		}
		if !reflect.DeepEqual(cfg, Default()) {
			t.Errorf("%s = %v changed the configuration", c.key, c.value)
		}
	}
}

func TestConfigJSON(t *testing.T) {
	cfg := Default()
	if err := cfg.SetJSON([]byte(`{"lod": {"bias": 2}, "texture.interval": 0.5, "handoff": "strict"}`)); err != nil {
		t.Fatal(err)
	}
	if cfg.LOD.Bias != 2 || cfg.Texture.Interval != 0.5 || cfg.Handoff != HandoffStrict {
		t.Errorf("%+v", cfg)
	}
	if err := cfg.SetJSON([]byte(`{`)); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func TestConfigValidate(t *testing.T) {
	for _, name := range Presets() {
		cfg, ok := Preset(name)
		if err := cfg.Validate(); !ok || err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := Preset("huge"); ok {
		t.Error("an unknown preset exists")
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.BurstTickInterval = 1 },
		func(c *Config) { c.LowWaterMark = 0.9 },
		func(c *Config) { c.RetryBackoffMax = 1 },
		func(c *Config) { c.LOD.Distances = []float64{2, 1} },
		func(c *Config) { c.LOD.Distances = []float64{math.NaN()} },
		func(c *Config) { c.Texture.DowngradeRadius = 1 },
		func(c *Config) { c.Texture.MaxDimension = 1 },
		func(c *Config) { c.Handoff = "" },
		func(c *Config) { *c = Config{} },
	} {
		cfg := Default()
		change(&cfg)
		if err := cfg.Validate(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v was accepted: %v", cfg, err)
		}
	}
}

// The query radius follows manifests of untold's cook alone, and not where it
// was set.
func TestQueryRadiusFollowsTheManifest(t *testing.T) {
	far := 3000.0
	own := &manifest.Manifest{Generator: "untold 1", Tiles: []manifest.Tile{{UnloadRadius: &far}}}
	foreign := &manifest.Manifest{Tiles: own.Tiles}
	c := Default()
	if got := c.For(own).MaxQueryRadius; got != far {
		t.Errorf("own: %v", got)
	}
	if got := c.For(foreign).MaxQueryRadius; got != 500 {
		t.Errorf("foreign: %v", got)
	}
	again := c.For(own)
	if got := again.For(foreign).MaxQueryRadius; got != far {
		t.Errorf("a radius that was found is found again: %v", got)
	}
	if err := c.Set("maxQueryRadius", 700); err != nil || c.For(own).MaxQueryRadius != 700 {
		t.Errorf("set: %v %v", err, c.For(own).MaxQueryRadius)
	}
	c = Default()
	c.FitQueryRadius = false
	if got := c.For(own).MaxQueryRadius; got != 500 {
		t.Errorf("off: %v", got)
	}
}
