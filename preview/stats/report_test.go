package stats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
)

func TestConditions(t *testing.T) {
	rep := &Report{Scene: "undrawn", Report: simulate.Report{Undrawn: 3}, FrameMSP99: 12.5}
	for text, want := range map[string]bool{
		"undrawn>0": true, "undrawn == 3": true, "undrawn<3": false, " frame_ms_p99 >= 12.5 ": true, "frame_ms_p99<=12": false, "double_drawn==0": true,
	} {
		c, err := ParseCondition(text)
		if err != nil || c.Holds(rep) != want {
			t.Errorf("%s: %v, %v", text, c.Holds(rep), err)
		}
	}
	for text, want := range map[string]string{
		"undrawn":   "no comparison",
		"undrown>0": `did you mean "undrawn"?`,
		"undrawn!1": "comparisons are",
		"undrawn>x": "no number",
		"scene>0":   "no figure",
		"xyzzy>0":   "the figures are frames",
	} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if c, _ := ParseCondition("undrawn > 0"); c.String() != "undrawn>0" {
		t.Errorf("%q", c.String())
	}
	keys := ReportKeys()
	if keys[0] != "frames" || !slices.Contains(keys, "errors") || slices.Contains(keys, "device") {
		t.Errorf("%v", keys)
	}
}

// TestGPUTimes: frames of which the driver has told nothing yet do not count.
func TestGPUTimes(t *testing.T) {
	var m Meter
	for i := range 103 {
		m.Timed(&Frame{Frame: i, GPU: max(0, float64(i-2))}) // 3 frames late
	}
	r := m.Report(&runtime.Stats{}, &render.Stats{}, false, 0)
	if r.GPUMSP50 != 50 || r.GPUMSP99 != 99 || r.GPUMSMax != 100 {
		t.Errorf("%v, %v, %v", r.GPUMSP50, r.GPUMSP99, r.GPUMSMax)
	}
	if r = new(Meter).Report(&runtime.Stats{}, &render.Stats{}, false, 0); r.GPUMSP99 != 0 {
		t.Errorf("%v without a frame", r.GPUMSP99)
	}
}

func ExampleParseCondition() {
	c, err := ParseCondition("undrawn > 0")
	fmt.Println(c, c.Holds(&Report{Report: simulate.Report{Undrawn: 2}}), err)
	// Output: undrawn>0 true <nil>
}
