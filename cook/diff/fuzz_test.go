package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/fuzzbound"
)

// FuzzContainers compares arbitrary containers, both ways round: the counts add up,
// and one result is the mirror image of the other.
func FuzzContainers(f *testing.F) {
	looks := map[string]look{"Wood": {color: 0.5, texture: "wood.png"}}
	chair := patch{name: "Chair", mesh: "chair", material: "Wood", k: 2}
	moved := chair
	moved.at[0], moved.name = 3, "Stool"
	instance := patch{name: "Twin", like: 1, transform: shifted(4, 0, 0)}
	seeds := [][]byte{
		build(f, looks, format.ModeNone, chair, instance), build(f, looks, format.ModeLZ4, chair, moved),
		build(f, nil, format.ModeNone, moved), build(f, nil, format.ModeNone),
	}
	for i := range seeds {
		f.Add(seeds[i], seeds[(i+1)%len(seeds)], false)
		f.Add(seeds[i], seeds[0], true)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, loose bool) {
		x, err := format.NewBytesReader(a)
		if err != nil {
			return
		}
		y, err := format.NewBytesReader(b)
		if err != nil {
			return
		}
		o := Options{}
		if loose {
			o.Tolerance = 0.01
		}
		var p *Payload
		fuzzbound.Run(t, len(a)+len(b), fuzzbound.Limits{PerByte: 4096, Alloc: 256 << 20}, func() { p, err = compareReaders(x, y, &o) })
		back, errBack := compareReaders(y, x, &o)
		if (err == nil) != (errBack == nil) {
			t.Fatalf("%v, the other way round %v", err, errBack)
		}
		if err != nil {
			return
		}
		item := func(p *Payload) *Result { return &Result{Items: []Item{{Payload: p}}} }
		checkSums(t, item(p))
		text := mirror(item(p)) // whatever it holds, JSON can
		if d := cmp.Diff(text.Items[0].Payload.Triangles, back.Triangles); d != "" {
			t.Errorf("not the mirror image: %s", d)
		}
		if err := item(p).WriteText(nowhere{}, 3); err != nil {
			t.Error(err)
		}
	})
}

type nowhere struct{}

// Write takes anything.
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
