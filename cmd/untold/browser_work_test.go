package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

// noGraphics has WebGL do nothing, so that what remains is the page's own work.
const noGraphics = `{
  const real = HTMLCanvasElement.prototype.getContext;
  const all = (object, use) => {
    const out = {};
    for (let o = Object.getPrototypeOf(object); o && o !== Object.prototype; o = Object.getPrototypeOf(o)) {
      for (const [name, d] of Object.entries(Object.getOwnPropertyDescriptors(o))) {
        if (!(name in out) && "value" in d) out[name] = typeof d.value === "function" ? use(name) : d.value;
      }
    }
    return out;
  };
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    const gl = real.call(this, kind, ...rest);
    if (kind !== "webgl2" || !gl) return gl;
    const extension = (name) => {
      const e = gl.getExtension(name);
      return e && !/debug|lose/.test(name) ? all(e, () => () => {}) : e;
    };
    const answers = {
      getExtension: extension, getParameter: (n) => gl.getParameter(n), isContextLost: () => false, getError: () => 0,
      getShaderParameter: () => true, getProgramParameter: (p, n) => (n === gl.ACTIVE_UNIFORMS ? 0 : true), checkFramebufferStatus: () => gl.FRAMEBUFFER_COMPLETE,
      getShaderInfoLog: () => "", getProgramInfoLog: () => "", getUniformLocation: () => ({}), getUniformBlockIndex: () => 0,
    };
    return { ...all(gl, (name) => answers[name] || (/^(create|fence)/.test(name) ? () => ({}) : () => {})), canvas: this };
  };
}`

// traceEvent is a part of a trace: its thread, and the microseconds that it took of it.
type traceEvent struct {
	Name     string
	PID, TID int
	TDur     float64
}

// trace has the browser note what its threads do in the meantime.
func (b *browser) trace(t *testing.T, meanwhile func()) (events []traceEvent) {
	t.Helper()
	b.call(t, "Tracing.start", map[string]any{"transferMode": "ReportEvents", "traceConfig": map[string]any{"includedCategories": []string{"toplevel", "devtools.timeline"}}}, nil)
	meanwhile()
	b.call(t, "Tracing.end", nil, nil)
	select {
	case <-b.traces:
	case <-time.After(10 * time.Minute):
		t.Fatal("the trace does not end")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, data := range b.traced {
		var part struct{ Value []traceEvent }
		if err := json.Unmarshal(data, &part); err != nil {
			t.Fatal(err)
		}
		events = append(events, part.Value...)
	}
	b.traced = nil
	return events
}

// TestBrowserOwnWork tells what the page's thread does beside drawing, by processor time:
// how long the drawing of software takes, and what else the machine does, is left out.
func TestBrowserOwnWork(t *testing.T) {
	b, _, s := browserCity(t, 320, 240)
	b.before(t, noGraphics)
	var st webStatus
	events := b.trace(t, func() {
		st = b.open(t, s.url+"?shadows=-1&samples=1&cache=0", 5)
		b.eval(t, `(async () => {
  const v = document.querySelector("untold-viewer"), c = v.camera;
  for (const [x, z] of [[40, 0], [0, 40], [0, 0]]) await v.flyTo({ ...c, position: [c.position[0] + x, c.position[1], c.position[2] + z] }, { seconds: 1 });
})()`, nil)
	})
	if st.Draws == 0 || st.Undrawn != 0 {
		t.Errorf("%+v", st)
	}
	type thread struct{ pid, tid int }
	count := map[thread]int{}
	var page thread
	for i := range events {
		if events[i].Name == "FireAnimationFrame" {
			who := thread{events[i].PID, events[i].TID}
			if count[who]++; count[who] > count[page] {
				page = who
			}
		}
	}
	var frames, tasks []float64
	for i := range events {
		e := &events[i]
		if (thread{e.PID, e.TID}) != page || e.TDur == 0 {
			continue
		}
		switch e.Name {
		case "FireAnimationFrame":
			frames = append(frames, e.TDur/1e3)
		case "ThreadControllerImpl::RunTask", "RunTask":
			tasks = append(tasks, e.TDur/1e3)
		}
	}
	if len(frames) == 0 || len(tasks) == 0 {
		t.Fatalf("%d frames and %d tasks in %d events", len(frames), len(tasks), len(events))
	}
	slices.Sort(frames)
	slices.Sort(tasks)
	t.Logf("%d frames: median %.2f ms, 99 %% below %.2f, longest %.2f; longest task %.1f ms, of processor time",
		len(frames), frames[len(frames)/2], frames[len(frames)*99/100], frames[len(frames)-1], tasks[len(tasks)-1])
	b.quiet(t)
}
