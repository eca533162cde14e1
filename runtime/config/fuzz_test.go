package config

import "testing"

// Whatever a configuration file says, the result is either an error or a valid
// configuration.
func FuzzConfigJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"updateInterval": 0.5, "handoff": "strict"}`, `{"lod": {"bias": 2, "distances": [1, 2, 3]}}`,
		`{"geometryBudget": 1e300}`, `{"maxConcurrentTileLoads": -1}`, `{"floorProximityGateY": "inf"}`, `{"x": {"y": {}}}`, `[`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		if c.SetJSON(data) != nil {
			return
		}
		params := params()
		for i := range params {
			if err := params[i].check(&c); err != nil {
				t.Fatalf("%s was accepted: %v", data, err)
			}
		}
	})
}
