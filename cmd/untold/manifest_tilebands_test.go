package main

import (
	"math"
	"testing"

	"github.com/untoldkit/untold/manifest"
)

func TestBandsOfTiles(t *testing.T) {
	m := &manifest.Manifest{
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75},
		Tiles:             make([]manifest.Tile, 2),
	}
	m.Tiles[0].HLODLevels = []manifest.Level{{SwitchDistance: 300, GeometricError: new(2.5)}}
	m.Tiles[0].LODLevels = []manifest.Level{{SwitchDistance: 150}, {SwitchDistance: 40, GeometricError: new(0.5)}, {SwitchDistance: 151}}
	m.SharedBucket = &manifest.SharedBucket{Tile: manifest.Tile{ID: "shared", UnloadRadius: new(200.0)}}
	all := bandsOfTiles(m)
	if len(all) != 3 {
		t.Fatal(all)
	}
	a := all[0]
	if !a.changed() || a.dropped() != 0 || a.hlodError != 2.5 || a.lodErrors[0] != 0.5 || !math.IsNaN(a.lodErrors[1]) || a.engine.HLOD != 74 {
		t.Errorf("%+v", a)
	}
	if b := all[1]; b.changed() || b.written.AutoPrefetch() != 62.5 {
		t.Errorf("%+v", b)
	}
	if s := all[2]; !s.shared || s.changed() || !math.IsInf(s.written.Streaming, 1) || !math.IsInf(s.written.AutoPrefetch(), 1) || s.written.Unload != 200 {
		t.Errorf("%+v", s)
	}
	m.StreamingDefaults = manifest.StreamingDefaults{StreamingRadius: 6, UnloadRadius: 10}
	m.Tiles[0].HLODLevels = nil
	if a := bandsOfTiles(m)[0]; a.dropped() != 2 {
		t.Errorf("%+v", a)
	}
}

// TestErrorOf: what is seen counts before the greatest distance.
func TestErrorOf(t *testing.T) {
	for _, tc := range []struct {
		level manifest.Level
		want  float64
	}{
		{manifest.Level{VisualError: new(0.25), GeometricError: new(3.0)}, 0.25},
		{manifest.Level{VisualError: new(0.0), GeometricError: new(3.0)}, 0},
		{manifest.Level{GeometricError: new(3.0)}, 3},
	} {
		if got := errorOf(&tc.level); got != tc.want {
			t.Errorf("%+v: %v, want %v", tc.level, got, tc.want)
		}
	}
	if got := errorOf(&manifest.Level{}); !math.IsNaN(got) {
		t.Errorf("no error: %v", got)
	}
}
