package runtime

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/config"
)

// TestDetailLimit: of two budgets the one that makes detail coarser is named.
func TestDetailLimit(t *testing.T) {
	for _, c := range []struct {
		name          string
		scarce        bool
		memory, frame float64
		want          DetailLimit
	}{
		{"plenty", false, 0, 0, LimitNone},
		{"what an end of shortage leaves", false, 3, 0, LimitNone},
		{"memory", true, 2, 0, LimitMemory},
		{"memory that only shortens the reach", true, 0, 0, LimitMemory},
		{"triangles", false, 0, 2, LimitTriangles},
		{"both, memory more", true, 3, 2, LimitMemory},
		{"both, triangles more", true, 2, 3, LimitTriangles},
	} {
		a := budgetSplit{scarce: c.scarce, stretch: c.memory, frame: frameBudget{stretch: c.frame}}
		if got := a.limit(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if s := DetailLimit(9).String(); s != "DetailLimit(9)" {
		t.Error(s)
	}
}

// TestDetailLimitInStats: a scene of which neither budget is short, and the same with little
// memory, and with few triangles.
func TestDetailLimitInStats(t *testing.T) {
	for _, c := range []struct {
		memory    int64
		triangles int
		want      DetailLimit
	}{{0, 0, LimitNone}, {30_000, 0, LimitMemory}, {0, 20_000, LimitTriangles}} {
		m := pyramidOf(8, 60)
		for i := range m.Tiles {
			m.Tiles[i].TriangleCount = 10_000
		}
		for i := range m.Pyramid.Nodes {
			m.Pyramid.Nodes[i].TriangleCount = 1000
		}
		r := inTheMiddle(t, m, withBytes(1000), withConfig(func(cfg *config.Config) { cfg.TriangleBudget = c.triangles }))
		r.memory.GeometryBudget = c.memory
		r.until(60)
		st := r.s.Stats()
		if st.DetailLimit != c.want {
			t.Errorf("memory %d, triangles %d: %v, want %v", c.memory, c.triangles, st.DetailLimit, c.want)
		}
		if v, ok := st.Counter("detailLimit"); !ok || v != float64(c.want) {
			t.Errorf("the counter is %v, %v", v, ok)
		}
		if text, err := json.Marshal(st); err != nil || !strings.Contains(string(text), `"detailLimit":"`+c.want.String()+`"`) {
			t.Errorf("%s, %v", text, err)
		}
	}
}
