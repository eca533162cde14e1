package cook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"sync/atomic"
)

// ErrNotInStore says that Options.RequireStore is set and a tile was not made before.
var ErrNotInStore = errors.New("not in the store: a shard that should have made it failed or did not run, or ran with other settings; run it again, or cook without --require-store")

// Shard is a share of a scene's tiles.
type Shard struct {
	Index int // from 0 on
	Count int
}

// check refuses what is no shard.
func (s Shard) check() error {
	if s.Count < 1 || s.Index < 0 || s.Index >= s.Count {
		return fmt.Errorf("cook: shard %d of %d: shards count from 0 to one less than their number", s.Index, s.Count)
	}
	return nil
}

// ShardResult tells what RunShard did.
type ShardResult struct {
	Index int `json:"shard"`
	Count int `json:"shards"`
	// Payloads are all containers of the scene with their levels, Share those of this
	// shard. Reused were in the store, the others were made and put there.
	Payloads int    `json:"payloads"`
	Share    int    `json:"share"`
	Reused   int    `json:"reused"`
	Read     int64  `json:"read"` // bytes of the scene's files that were read
	Notes    []Note `json:"notes"`
}

// RunShard makes a share of a scene's tiles, with their levels, and puts them into
// Options.Store, which must be set. It writes nothing else. A Run with the same options
// and store, on any machine, finds them there. What a shard has not made the Run makes.
func RunShard(ctx context.Context, scene string, shard Shard, opts Options) (res *ShardResult, err error) {
	if err := shard.check(); err != nil {
		return nil, err
	}
	switch {
	case opts.Store == nil:
		return nil, errors.New("cook: a shard puts what it makes into a store, and there is none: name one that all machines reach")
	case opts.DryRun:
		return nil, errors.New("cook: a shard cannot be a dry run")
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.read = cmp.Or(opts.read, &atomic.Int64{})
	c, err := planScene(ctx, scene, &opts)
	if err != nil {
		return nil, err
	}
	defer c.scene.Close()
	dir, err := os.MkdirTemp("", "untold-shard-")
	if err != nil {
		return nil, fmt.Errorf("cook: %w", err)
	}
	defer os.RemoveAll(dir)
	opts.NoSync = true
	out, err := openOutput(dir, &opts)
	if err != nil {
		return nil, err
	}
	defer out.discard()
	c.recall = newRecall(ctx, out, c.manifestFile(), &opts)
	defer c.recall.close()
	c.pyramid, c.share = false, true // nodes are made by the cook that comes last
	build, _, err := c.newBuilder(ctx, out)
	if err != nil {
		return nil, err
	}
	defer build.close()
	payloads := build.payloads
	of := shares(payloads, shard.Count)
	var mine []int
	for i := range payloads {
		if of[i] == shard.Index {
			mine = append(mine, i)
		} else {
			build.split.skip(payloads[i].members, payloads[i].coord)
		}
	}
	if err := build.some(ctx, mine); err != nil {
		return nil, err
	}
	if err := c.recall.shared.wait(); err != nil {
		return nil, fmt.Errorf("cook: the store fails, and a shard is of no use without it: %w", err)
	}
	return &ShardResult{
		Index: shard.Index, Count: shard.Count, Payloads: len(payloads), Share: len(mine), Reused: c.recall.reused, Read: opts.read.Load(),
		Notes: allNotes(c.scene, c.ns),
	}, nil
}

// shareRuns is how many runs of payloads a shard has. One run would cut the fewest objects
// that others cut, too; but what is predicted too low is so for all of a quarter of a city.
const shareRuns = 8

// shares tells for each payload which of n shards makes it. Payloads are taken along a
// curve through the grid (Morton, "A Computer Oriented Geodetic Data Base", 1966), divided
// into runs of the same predicted cost, and these are dealt out forth and back.
func shares(payloads []payload, n int) []int {
	order := make([]int, len(payloads))
	code := make([]uint64, len(payloads))
	for i := range payloads {
		order[i] = i
		if at := payloads[i].coord; at != nil {
			code[i] = morton(at)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(code[a], code[b]) })
	total := uint64(0)
	for i := range payloads {
		total += payloads[i].cost()
	}
	out := make([]int, len(payloads))
	before := uint64(0)
	for _, i := range order {
		c := payloads[i].cost()
		// The run of the middle of what it costs.
		hi, lo := bits.Mul64(2*before+c, uint64(shareRuns*n))
		q, _ := bits.Div64(hi, lo, 2*total)
		run := min(int(q), shareRuns*n-1)
		out[i] = run % n
		if run/n%2 == 1 {
			out[i] = n - 1 - out[i]
		}
		before += c
	}
	return out
}

// cost predicts how long a payload takes, in an unspecified unit, at least 1. It depends on
// the scene and on settings that decide what is made, and on nothing of the machine: shards
// with less memory than others must find the same shares.
func (p *payload) cost() uint64 {
	const levels = 8 // times as long as a tile alone
	t := uint64(max(0, p.predicted)) + 2000
	if len(p.levels) > 0 {
		t *= levels
	}
	return t
}

// morton interleaves the bits of a tile's coordinates on the ground.
func morton(at *[3]int) (code uint64) {
	for k, v := range []int{at[0], at[2]} {
		u := uint32(int32(v)) ^ 1<<31 // in the order of v
		for bit := range 32 {
			code |= uint64(u>>bit&1) << (2*bit + k)
		}
	}
	return code
}
