package cook

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestShards: however many shards make a scene, the last cook finds all of it in the
// store and gives the bytes of one machine; what a lost shard has not made it makes.
func TestShards(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	newYard().write(t, scene)
	o := yardOptions()
	fresh := t.TempDir()
	one, err := Run(t.Context(), scene, fresh, o)
	if err != nil {
		t.Fatal(err)
	}
	want := testfile.ReadTree(t, fresh)
	for _, n := range []int{1, 2, 7, 64} {
		if race.Enabled && n == 64 {
			continue // make test cooks so many without the detector
		}
		p, _ := place(t)
		o.Store = store.New(p, nil)
		last := func(require bool) (*Result, error) {
			t.Helper()
			out, o := t.TempDir(), o
			o.RequireStore = require
			res, err := Run(t.Context(), scene, out, o)
			if err == nil {
				if d := cmp.Diff(want, testfile.ReadTree(t, out)); d != "" {
					t.Errorf("%d shards: %.500s", n, d)
				}
			}
			return res, err
		}
		made := 0
		for i := n - 1; i >= 0; i-- {
			if i == 0 && n == 7 {
				if _, err := last(true); !errors.Is(err, ErrNotInStore) {
					t.Errorf("a lost shard: %v", err)
				}
				if res, err := last(false); err != nil || res.Reused != made {
					t.Errorf("a lost shard: %d of %d taken (%v)", res.Reused, made, err)
				}
				continue
			}
			res, err := RunShard(t.Context(), scene, Shard{i, n}, o)
			if err != nil || res.Payloads != one.Tiles || res.Reused != 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			made += res.Share
		}
		if res, err := last(true); err != nil || res.Reused != one.Tiles {
			t.Errorf("%d shards: %+v, %v", n, res, err)
		}
		if res, err := RunShard(t.Context(), scene, Shard{0, n}, o); err != nil || res.Reused != res.Share {
			t.Errorf("a shard again: %+v, %v", res, err)
		}
	}
	for _, s := range []Shard{{0, 0}, {-1, 2}, {2, 2}} {
		if _, err := RunShard(t.Context(), scene, s, o); err == nil {
			t.Errorf("%+v", s)
		}
	}
	o.Store = nil
	if _, err := RunShard(t.Context(), scene, Shard{0, 1}, o); err == nil {
		t.Error("without a store")
	}
}

// TestSharesIgnoreMemory: shards on machines with more and less memory find the same shares,
// also if pieces have been counted on some of them only.
func TestSharesIgnoreMemory(t *testing.T) {
	scene := sheets(240, 16, 3).save(t)
	var want []uint64
	counted := map[bool]bool{}
	for _, memory := range []int64{8 << 30, 400_000} {
		o := ClassicOptions()
		o.Memory, o.Store = memory, nil
		c, err := planScene(t.Context(), scene, &o)
		if err != nil {
			t.Fatal(err)
		}
		payloads := c.payloads()
		if _, err := c.weigh(payloads); err != nil {
			t.Fatal(err)
		}
		pieces, _, err := c.countPieces()
		if err != nil {
			t.Fatal(err)
		}
		counted[pieces != nil] = true
		var got []uint64
		for i := range payloads {
			got = append(got, payloads[i].cost())
		}
		if want == nil {
			want = got
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("with %d bytes: %s", memory, d)
		}
		c.scene.Close()
	}
	if len(counted) != 2 {
		t.Error("pieces were counted always or never")
	}
}

// TestShares: every payload has a shard, and none has more than its part and one payload
// for each of its runs.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "shards")
		payloads := make([]payload, rapid.IntRange(0, 60).Draw(t, "payloads"))
		total, most := uint64(0), uint64(0)
		for i := range payloads {
			p := &payloads[i]
			p.predicted = rapid.Int64Range(0, 1e9).Draw(t, "triangles")
			if rapid.Bool().Draw(t, "levels") {
				p.levels = make([]level, 1)
			}
			if rapid.IntRange(0, 9).Draw(t, "tree") > 0 {
				p.coord = &[3]int{rapid.IntRange(-50, 50).Draw(t, "x"), 0, rapid.IntRange(-50, 50).Draw(t, "z")}
			}
			total, most = total+p.cost(), max(most, p.cost())
		}
		sums := make([]uint64, n)
		for i, s := range shares(payloads, n) {
			sums[s] += payloads[i].cost()
		}
		for _, s := range sums {
			if s > total/uint64(n)+shareRuns*(most+1) {
				t.Errorf("a shard has %d of %d, the largest payload %d", s, total, most)
			}
		}
	})
}
