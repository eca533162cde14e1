package cook

import (
	"fmt"
	"slices"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/manifest/tileid"
	"github.com/untoldkit/untold/partition"
)

// DefaultWholeLimit is the default of Options.WholeLimit in bytes.
const DefaultWholeLimit = 64_000_000

const (
	// endPixels: a tile ends where its largest object is so many pixels high.
	endPixels = 2
	// leastSpread is how many times as far the next coarser level begins at
	// least. Where it would begin sooner it takes the finer one's place.
	leastSpread = 1.3
	// leastViewDistance has room for all bands.
	leastViewDistance = 20.0
)

// wantedWhole reports whether the scene is so small that all of it is wanted at
// full detail as far as it can be seen.
func (c *scenePlan) wantedWhole() bool {
	if !c.opts.FitDistances || c.opts.WholeLimit == 0 {
		return false
	}
	total := int64(0)
	for i := range c.objects {
		for _, p := range c.objects[i].placed {
			for _, part := range c.scene.Meshes[p.mesh].Parts {
				total += int64(part.Vertices)*vertex.Size + 12*int64(part.Triangles)
			}
		}
		if total > c.opts.WholeLimit {
			return false
		}
	}
	return true
}

// leastRadii are the radii below which a tile never goes: a tier's.
func (c *scenePlan) leastRadii(r partition.Radii) partition.Radii {
	if !c.opts.hasFloors() {
		return partition.Radii{}
	}
	return r
}

// radiiGiven reports whether the user gave the radii of a tier, or of a grid.
func (c *scenePlan) radiiGiven(tier string) bool {
	return slices.ContainsFunc(c.opts.Floors.TierRadii, func(r manifest.TierRadius) bool {
		return r.Tier == tier || !c.opts.hasFloors() && (r.Tier == tileid.TierExteriorShell || r.Tier == tileid.TierStructuralInterior)
	})
}

// fitGiven places the switches of a tile between radii that were given, as near
// as they may to where they should be.
func (c *scenePlan) fitGiven(p *payload, made []*level, r partition.Radii) (band.Bands, []*level) {
	fit, reasons := c.opts.placeErrors(made, r)
	for _, l := range made {
		if reason, ok := reasons[l]; ok {
			c.unmake(p, l, reason)
		}
	}
	var out []*level
	for _, f := range fit {
		f.distance = f.at
		out = append(out, f.level)
	}
	b := c.radii(r)
	b.Prefetch = b.AutoPrefetch()
	if len(out) > 0 {
		b.Prefetch = min(b.Prefetch, out[0].distance)
	}
	return b, out
}

// endOf returns the distance in metres at which the largest of some objects is
// endPixels high. What was cut at the border of a cell counts whole: the ground
// goes on in the next tile.
func (c *scenePlan) endOf(members []int) float64 {
	largest := 0.0
	for _, i := range members {
		size := c.objects[i].box.Size()
		largest = max(largest, size[0], size[1], size[2])
	}
	end := largest / float64(c.opts.pixelAngle()*endPixels)
	// Far beyond every scene, and exact with two decimals.
	return min(max(end, 1), 1e7)
}

// fitDistances gives a tile its radii, and its levels their switches: each where
// what is seen of its error is LODErrorPixels high. Levels that nobody would see
// are dropped. least are radii that the tile's tier has at any rate.
func (c *scenePlan) fitDistances(p *payload, made []*level, least partition.Radii) (band.Bands, []*level) {
	end := max(c.endOf(p.present), least.Streaming)
	if c.opts.ViewDistance > 0 {
		end = min(end, c.opts.ViewDistance-band.Gap)
	}
	made = c.spread(p, made, end)
	b := band.Bands{Streaming: band.Round(end), Unload: band.Round(max(end+band.Gap, least.Unload))}
	if len(made) == 0 {
		b.Prefetch = b.Streaming
		return b, nil
	}
	if made = c.squeeze(p, made); len(made) == 0 {
		b.Prefetch = b.Streaming
		return b, nil
	}
	last := 0.0
	for _, l := range made {
		l.distance = band.Round(max(l.distance, last+band.Gap))
		last = l.distance
	}
	first, coarsest := made[0], made[len(made)-1]
	b.Streaming = first.distance
	if first.hlod {
		b.Streaming = band.Round(max(first.distance-band.Gap, 1))
		first.distance = band.Round(b.Streaming + band.Gap)
	}
	b.Prefetch = b.Streaming
	b.Unload = band.Round(max(end, coarsest.distance+band.Gap, least.Unload))
	return b, made
}

// spread places the switches and drops the levels that begin beyond the end, and
// those that a coarser level follows too closely.
func (c *scenePlan) spread(p *payload, made []*level, end float64) []*level {
	var out []*level
	for i := len(made) - 1; i >= 0; i-- { // from coarse to fine
		l := made[i]
		l.distance = c.opts.switchOf(l)
		switch {
		case l.distance >= end:
			c.unmake(p, l, fmt.Sprintf("what is seen of its error of %.3g m is %v pixels high at %.4g m, where nothing of the tile is larger than %v pixels",
				l.seen, c.opts.LODErrorPixels, l.distance, endPixels))
		case len(out) > 0 && out[0].distance < leastSpread*l.distance:
			c.unmake(p, l, fmt.Sprintf("%s begins at %.4g m, it would at %.4g m", out[0].name, out[0].distance, l.distance))
		default:
			out = append([]*level{l}, out...)
		}
	}
	return out
}

// squeeze moves the switches into the view distance, the far ones most, and
// drops the levels whose error would be too large there.
func (c *scenePlan) squeeze(p *payload, made []*level) []*level {
	for {
		n := len(made)
		if n == 0 {
			return nil
		}
		first, last := made[0].distance, made[n-1].distance
		room := c.opts.ViewDistance - 2*band.Gap
		if c.opts.ViewDistance == 0 || last <= room {
			return made
		}
		from := min(first, room-float64(band.Gap*float64(n-1)))
		worst, most := -1, c.opts.LODMaxErrorPixels
		at := make([]float64, n)
		for i, l := range made {
			t := 0.0
			if last > first {
				t = (l.distance - first) / (last - first)
			}
			at[i] = from + float64((room-from)*t)
			if px := c.opts.pixels(l.seen, at[i]); c.opts.LODMaxErrorPixels > 0 && px > most {
				worst, most = i, px
			}
		}
		if worst >= 0 {
			l := made[worst]
			c.unmake(p, l, fmt.Sprintf("what is seen of its error of %.3g m would be %.3g pixels high within the view distance; at most %v are allowed",
				l.seen, most, c.opts.LODMaxErrorPixels))
			made = slices.Delete(made, worst, worst+1)
			continue
		}
		for i, l := range made {
			l.distance = at[i]
		}
		return made
	}
}
