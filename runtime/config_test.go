package runtime

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
)

var update = flag.Bool("update", false, "rewrite the table of parameters in docs/runtime.md")

// The page lists every parameter as the code has it.
func TestParametersAreDocumented(t *testing.T) {
	path := filepath.Join("..", "docs", "runtime.md")
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
			t.Fatal("the table of parameters is out of date: run go test ./runtime -update")
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Every field of Config has a row in the table, under its own name.
func TestEveryFieldIsAParameter(t *testing.T) {
	keys := map[string]bool{}
	for _, p := range Params() {
		if keys[strings.ToLower(p.Key)] {
			t.Errorf("%s is listed twice", p.Key)
		}
		keys[strings.ToLower(p.Key)] = true
		if p.Meaning == "" {
			t.Errorf("%s has no meaning", p.Key)
		}
	}
	fields := 0
	var walk func(typ reflect.Type, prefix string)
	walk = func(typ reflect.Type, prefix string) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Type.Kind() == reflect.Struct {
				walk(f.Type, prefix+f.Name+".")
				continue
			}
			fields++
			if !keys[strings.ToLower(prefix+f.Name)] {
				t.Errorf("%s%s is no parameter", prefix, f.Name)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
	if fields != len(keys) {
		t.Errorf("%d fields, %d parameters", fields, len(keys))
	}
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
		{"handoff", "strict", "strict"},
		{"lod.distances", []any{10.0, 20}, []float64{10, 20}},
		{"cache.dir", "/x", "/x"},
	} {
		cfg := DefaultConfig()
		if err := cfg.Set(c.key, c.value); err != nil {
			t.Errorf("%s: %v", c.key, err)
			continue
		}
		if got, err := cfg.Get(c.key); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s = %v (%v), want %v", c.key, got, err, c.want)
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
		cfg := DefaultConfig()
		err := cfg.Set(c.key, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrConfig) {
			t.Errorf("%s = %v: %v, want %q", c.key, c.value, err, c.want)
		}
		if !reflect.DeepEqual(cfg, DefaultConfig()) {
			t.Errorf("%s = %v changed the configuration", c.key, c.value)
		}
	}
}

func TestConfigJSON(t *testing.T) {
	cfg := DefaultConfig()
	if err := cfg.SetJSON([]byte(`{"lod": {"bias": 2}, "texture.interval": 0.5, "handoff": "strict"}`)); err != nil {
		t.Fatal(err)
	}
	if cfg.LOD.Bias != 2 || cfg.Texture.Interval != 0.5 || cfg.Handoff != HandoffStrict {
		t.Errorf("%+v", cfg)
	}
	if err := cfg.SetJSON([]byte(`{`)); !errors.Is(err, ErrConfig) {
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
		cfg := DefaultConfig()
		change(&cfg)
		if err := cfg.Validate(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v was accepted: %v", cfg, err)
		}
		if _, err := Open(t.Context(), Source{}, cfg, Deps{}); !errors.Is(err, ErrConfig) {
			t.Errorf("Open accepted a bad configuration: %v", err)
		}
	}
}
