package simulate

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// A download that waits for a place has neither latency nor a share of the bandwidth, and
// begins when one is free; what was cancelled while it waited never does.
func TestNetworkPlaces(t *testing.T) {
	payloads, image := hostqueue.Request{}, hostqueue.Request{Texture: true}
	first := hostqueue.Request{Texture: true, Size: 1000}
	type start struct {
		id    uint64
		bytes int64
		r     hostqueue.Request
	}
	for _, c := range []struct {
		name   string
		starts []start
		cancel []uint64       // right after
		want   map[uint64]int // ms
	}{
		// Both have 500 bytes/s from 0.1 s on; 3 asks at 1.1 s, and is alone from 1.2 s.
		{"third waits", []start{{1, 500, payloads}, {2, 500, payloads}, {3, 500, payloads}}, nil, map[uint64]int{1: 1100, 2: 1100, 3: 1700}},
		{"order", []start{{1, 1000, payloads}, {2, 100, payloads}, {3, 100, payloads}, {4, 100, payloads}}, nil, map[uint64]int{2: 300, 3: 600, 4: 900, 1: 1400}},
		{"cancelled in the queue", []start{{1, 1000, payloads}, {2, 100, payloads}, {3, 100, payloads}, {4, 100, payloads}}, []uint64{3}, map[uint64]int{2: 300, 4: 600, 1: 1300}},
		{"cancelled with a place", []start{{1, 500, payloads}, {2, 500, payloads}, {3, 500, payloads}}, []uint64{1, 9}, map[uint64]int{2: 1100, 3: 1100}},
		{"images leave a place", []start{{1, 500, image}, {2, 500, image}, {3, 500, payloads}}, nil, map[uint64]int{1: 1100, 3: 1100, 2: 1700}},
		{"small ones beside", []start{{1, 1000, payloads}, {2, 1000, payloads}, {3, 1000, first}, {4, 1000, first}, {5, 100, first}}, nil, map[uint64]int{1: 4100, 2: 4100, 3: 4100, 4: 4100, 5: 4300}},
	} {
		n := newNetwork(1000, 100*time.Millisecond, hostqueue.NewLimits(2, 1, 2))
		for _, s := range c.starts {
			n.start(s.id, s.bytes, s.r)
		}
		for _, id := range c.cancel {
			n.cancel(id)
		}
		got := map[uint64]int{}
		for ms := 0; ms < 10_000; ms += 50 {
			for _, id := range n.advance(time.Duration(ms) * time.Millisecond) {
				got[id] = ms
			}
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v instead of %v", c.name, got, c.want)
		}
	}
}

// Whatever starts and is cancelled: there are never more downloads than places, those of a
// class begin in the order of start, and all come but what was cancelled.
func TestNetworkPlacesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := hostqueue.NewLimits(rapid.IntRange(1, 6).Draw(t, "requests"), 4, rapid.IntRange(0, 6).Draw(t, "small"))
		n := newNetwork(rapid.Float64Range(1e3, 1e8).Draw(t, "bandwidth"), time.Duration(rapid.IntRange(0, 200).Draw(t, "latency"))*time.Millisecond, limits)
		left := map[uint64]bool{}
		look := func() {
			for i := range n.flows {
				f := &n.flows[i]
				before := func(w flow) bool { return f.begin != never && w.class == f.class && w.begin == never }
				if at := slices.IndexFunc(n.flows[:i], before); at >= 0 {
					t.Fatalf("%d has a place before %d of the same class", f.id, n.flows[at].id)
				}
			}
			if n.queue.Running()+n.queue.Waiting() != len(n.flows) || n.queue.Running() > limits.Places() {
				t.Fatalf("%d have places, %d wait, of %d", n.queue.Running(), n.queue.Waiting(), len(n.flows))
			}
		}
		done := func(list []uint64) {
			for _, id := range list {
				if !left[id] {
					t.Fatalf("%d came twice, or after it was cancelled", id)
				}
				delete(left, id)
			}
		}
		for i := range uint64(rapid.IntRange(1, 60).Draw(t, "steps")) {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				bytes := rapid.Int64Range(0, 1<<18).Draw(t, "bytes")
				n.start(i, bytes, hostqueue.Request{Texture: rapid.Bool().Draw(t, "texture"), Size: bytes})
				left[i] = true
			case 2:
				if len(left) > 0 {
					id := rapid.SampledFrom(slices.Sorted(maps.Keys(left))).Draw(t, "which")
					n.cancel(id)
					delete(left, id)
				}
			default:
				done(n.advance(n.now + time.Duration(rapid.IntRange(0, 500).Draw(t, "ms"))*time.Millisecond))
			}
			look()
		}
		done(n.advance(n.now + 24*time.Hour))
		if len(left) != 0 || len(n.flows) != 0 || n.queue.Running()+n.queue.Waiting() != 0 {
			t.Fatalf("%d never came", len(left))
		}
	})
}

// classes returns how many downloads of each class a model has under way.
func (w *model) classes() map[hostqueue.Class]int {
	list := map[hostqueue.Class]int{}
	for i := range w.net.flows {
		list[w.net.flows[i].class]++
	}
	return list
}

// What a download is for goes by what is asked for, as in runtime/remote.
func TestClassesOfDownloads(t *testing.T) {
	s := load(t, rowScene(t, format.ModeNone))
	w := newModel(s, &Options{Bandwidth: 1e6})
	w.Fetch(payload.Request{Token: 1, TileID: "a", Size: 1000})
	w.Fetch(payload.Request{Token: 2, TileID: "a", Size: 100 << 10})
	w.Fetch(payload.Request{Token: 3, TileID: "a", Size: 200 << 10})
	partLoader{w, &payload.Asset{Meshes: make([]records.Mesh, 1)}}.LoadParts(payload.Request{Token: 4, TileID: "a", Size: 1000}, []int{0})
	if got := w.classes(); !maps.Equal(got, map[hostqueue.Class]int{hostqueue.Payload: 4}) {
		t.Errorf("payloads: %v", got)
	}
	w = newModel(s, &Options{Bandwidth: 1e6})
	tier := &textureTier{w: w, attempts: map[string]int64{}}
	for i, f := range []*textureFile{
		{needs: []int64{1000}}, // an image
		{needs: []int64{96 << 10}, parts: true},
		{needs: []int64{97 << 10}, parts: true},
		{needs: []int64{100 << 10}, parts: true, have: 30 << 10},
	} {
		f.size = texfile.Size{Width: 4, Height: 4, Mips: 1}
		tier.begin(texture.Request{Token: uint64(i), MaxSize: 4}, f, nil)
	}
	if got := w.classes(); !maps.Equal(got, map[hostqueue.Class]int{hostqueue.Texture: 2, hostqueue.SmallTexture: 2}) {
		t.Errorf("textures: %v", got)
	}
}

// Downloads that wait for a place are loads as those that have one are: they are cancelled at
// once, and come in their turn.
func TestWaitingDownloads(t *testing.T) {
	w := newModel(load(t, rowScene(t, format.ModeNone)), &Options{Bandwidth: 1e6})
	done := payload.NewCompletions()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range uint64(hostqueue.DefaultRequests + 3) {
		c := context.Background()
		if i >= hostqueue.DefaultRequests && i < hostqueue.DefaultRequests+2 {
			c = ctx
		}
		w.Fetch(payload.Request{Token: i + 1, TileID: "a", Size: 1000, Context: c, Done: done})
	}
	if len(w.waiting) != hostqueue.DefaultRequests+3 || w.net.queue.Waiting() != 3 {
		t.Fatalf("%d loads, %d wait", len(w.waiting), w.net.queue.Waiting())
	}
	cancel()
	if err := w.deliver(); err != nil {
		t.Fatal(err)
	}
	answers := done.Take(nil)
	if len(answers) != 2 || answers[0].Result.Err == nil || w.net.queue.Waiting() != 1 {
		t.Errorf("%d answers, %d wait", len(answers), w.net.queue.Waiting())
	}
	w.now = time.Second
	if err := w.deliver(); err != nil {
		t.Fatal(err)
	}
	if answers = done.Take(nil); len(answers) != hostqueue.DefaultRequests+1 || len(w.waiting) != 0 || w.net.queue.Running() != 0 {
		t.Errorf("%d answers, %d loads", len(answers), len(w.waiting))
	}
}
