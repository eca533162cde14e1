package cook

import (
	"fmt"
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/partition"
)

// pixelAngle is the size in metres of one pixel at a distance of one metre.
func (o *Options) pixelAngle() float64 {
	half := float64(o.LevelFovY * (math.Pi / 360))
	return 2 * geom.Tan(half) / float64(o.LevelHeight)
}

// pixels is the height in pixels of an error in metres at a distance.
func (o *Options) pixels(err, distance float64) float64 {
	if distance <= 0 {
		return math.Inf(1)
	}
	return err / float64(distance*o.pixelAngle())
}

// maxError is the largest error of a level in metres: what LODMaxErrorPixels
// measure where it begins; 0 is no limit.
func (o *Options) maxError(l *level) float64 {
	if !o.limitsErrors() {
		return 0
	}
	return float64(float64(l.distance*o.pixelAngle()) * o.LODMaxErrorPixels)
}

// limitsErrors reports whether the greatest distance of a level decides whether it is made.
func (o *Options) limitsErrors() bool { return o.LODMaxErrorPixels > 0 && !o.FitDistances }

// tooCoarse reports whether an error in metres is too large for a level that
// begins at a distance.
func (o *Options) tooCoarse(err, distance float64) bool {
	return o.limitsErrors() && o.pixels(err, distance) > o.LODMaxErrorPixels
}

// describeError says why a level is too coarse.
func (o *Options) describeError(err, distance float64) string {
	return fmt.Sprintf("its error of %.3g m is %.3g pixels where it begins, at %v m; at most %v are allowed",
		err, o.pixels(err, distance), distance, o.LODMaxErrorPixels)
}

// levelSwitch is a level with the switch that its error asks for and the one that
// the bands allow.
type levelSwitch struct {
	*level
	want, at float64
}

// fitErrors moves the switches to where a level's error shrinks to the wanted
// number of pixels, as far as the bands allow. Levels for which they have no
// room then, and those whose error would be too large there, are dropped.
func (c *scenePlan) fitErrors(p *payload, made []*level, r partition.Radii) []*level {
	for {
		fit, reasons := c.opts.placeErrors(made, r)
		worst, most := -1, 0.0
		for i, f := range fit {
			if px := c.opts.pixels(f.err, f.at); c.opts.tooCoarse(f.err, f.at) && px > most {
				worst, most = i, px
			}
		}
		if worst >= 0 {
			f := fit[worst]
			reasons[f.level] = c.opts.describeError(f.err, f.at)
		}
		var left []*level
		for _, l := range made {
			if reason, ok := reasons[l]; ok {
				c.unmake(p, l, reason)
			} else {
				left = append(left, l)
			}
		}
		if len(left) == len(made) {
			for i, f := range fit {
				if left[i] = f.level; f.at < f.want-0.01 {
					c.ns.add("lod-error-visible", 1, f.index, fmt.Sprintf("%s %s: %v m of error at %v m", p.tile, f.name, geom.Round(f.err, 4), f.at))
				}
				f.distance = f.at
			}
			return left
		}
		made = left
	}
}

// switchOf returns the distance at which a level's error is LODErrorPixels high:
// with FitDistances what is seen of it, else all of it.
func (o *Options) switchOf(l *level) float64 {
	err := l.err
	if o.FitDistances {
		err = l.seen
	}
	return err / float64(o.pixelAngle()*o.LODErrorPixels)
}

// placeErrors fits the switches into the bands: the LODs first, then the HLODs.
// Reasons tells of the levels that find no room.
func (o *Options) placeErrors(made []*level, r partition.Radii) (fit []levelSwitch, reasons map[*level]string) {
	var wants [2][]float64
	var which [2][]*level
	for _, l := range made {
		k := 0
		if l.hlod {
			k = 1
		}
		// Above 1, so that it counts as metres.
		wants[k] = append(wants[k], max(o.switchOf(l), 1.001))
		which[k] = append(which[k], l)
	}
	add := func(k, i int, at float64) { fit = append(fit, levelSwitch{which[k][i], wants[k][i], at}) }
	reasons = map[*level]string{}
	if o.Compat {
		h := band.HLODDistances(r.Streaming, r.Unload, wants[1])
		for i, d := range band.LODDistances(r.Streaming, r.Unload, h, wants[0]) {
			add(0, i, band.Round(d))
		}
		for i, d := range h {
			add(1, i, band.Round(d))
		}
		return fit, reasons
	}
	bands := band.Fit(r.Streaming, r.Unload, wants[1], wants[0])
	for _, s := range bands.LODs {
		add(0, s.Level, s.Distance)
	}
	for _, s := range bands.HLOD {
		add(1, s.Level, s.Distance)
	}
	for _, d := range bands.Dropped {
		k := 0
		if d.HLOD {
			k = 1
		}
		reasons[which[k][d.Level]] = d.Reason
	}
	return fit, reasons
}

// unmake takes a level back; its staged file goes before the commit.
func (c *scenePlan) unmake(p *payload, l *level, reason string) {
	l.made, l.textures = false, nil
	l.atlasBytes, l.atlasGPU = 0, 0
	l.takenBack = !c.opts.DryRun
	p.drop(l, "%s%s", p.doubt(), reason)
}

// takenBack returns the staged files of levels that were taken back.
func takenBack(payloads []payload) (files []fileRecord) {
	for i := range payloads {
		for k := range payloads[i].levels {
			l := &payloads[i].levels[k]
			if !l.takenBack {
				continue
			}
			files = append(files, fileRecord{l.file, l.written.size, l.written.sha256})
			if l.atlas != nil {
				files = append(files, *l.atlas)
				l.atlas = nil
			}
		}
	}
	return files
}
