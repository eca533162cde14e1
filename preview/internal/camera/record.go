package camera

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
)

const (
	maxRun   = 240 // samples that one straight key may stand for
	maxTilt  = 1e-3
	maxDrift = 1e-3 // metres
)

// Recorder collects a camera's way. Samples that lie on a straight line
// between their neighbours are left out, to within a millimetre and a
// thousandth of a radian.
type Recorder struct {
	lens runtime.Camera
	keys []sample
	run  []sample // since the last key
}

type sample struct {
	t                 time.Duration
	position, forward geom.Vec3
}

// Add notes where the camera is at a time since the recording began. Samples
// that are not later than the last one are dropped.
func (r *Recorder) Add(t time.Duration, c runtime.Camera) {
	s := sample{t, c.Position, geom.Vec3(c.Forward).Normalize(1e-9, geom.Vec3{0, 0, -1})}
	if len(r.keys) == 0 {
		r.lens, r.keys = c, append(r.keys, s)
		return
	}
	last := r.keys[len(r.keys)-1]
	if n := len(r.run); n > 0 {
		last = r.run[n-1]
	}
	if s.t <= last.t {
		return
	}
	r.lens.Near, r.lens.Far = min(r.lens.Near, c.Near), max(r.lens.Far, c.Far)
	if len(r.run) == maxRun || !r.straight(s) {
		r.keys = append(r.keys, r.run[len(r.run)-1])
		r.run = r.run[:0]
	}
	r.run = append(r.run, s)
}

// straight reports whether all samples since the last key lie on the way to s.
func (r *Recorder) straight(s sample) bool {
	from := r.keys[len(r.keys)-1]
	for i := range r.run {
		x := &r.run[i]
		part := float64(x.t-from.t) / float64(s.t-from.t)
		p := from.position.Add(s.position.Sub(from.position).Scale(part))
		f := from.forward.Add(s.forward.Sub(from.forward).Scale(part))
		if p.Sub(x.position).Len() > maxDrift || f.Sub(x.forward).Len() > maxTilt {
			return false
		}
	}
	return true
}

// Len returns how many samples there are that matter.
func (r *Recorder) Len() int { return len(r.keys) + min(len(r.run), 1) }

// Save writes the path to a file that untold simulate --camera-path and untold
// preview --camera-path read.
func (r *Recorder) Save(path string) error {
	return atomicfile.Write(path, r.Write)
}

// Write writes the path as JSON, one key a line. An empty recording is an
// error.
func (r *Recorder) Write(w io.Writer) error {
	if len(r.keys) == 0 {
		return fmt.Errorf("camera: nothing was recorded")
	}
	keys := r.keys
	if n := len(r.run); n > 0 {
		keys = append(keys[:len(keys):len(keys)], r.run[n-1])
	}
	b := []byte("{\n")
	for _, x := range [...]struct {
		name string
		v    float64
	}{{"fov_y_degrees", r.lens.FovYDegrees}, {"aspect", r.lens.Aspect}, {"near", r.lens.Near}, {"far", r.lens.Far}} {
		b = append(b, `  "`+x.name+`": `...)
		b = append(number(b, x.v, 6), ",\n"...)
	}
	b = append(b, "  \"camera\": [\n"...)
	for i := range keys {
		k := &keys[i]
		b = append(b, `    {"t": `...)
		b = number(b, k.t.Seconds(), 6)
		b = append(b, `, "position": `...)
		b = vector(b, k.position, 4)
		b = append(b, `, "forward": `...)
		b = vector(b, k.forward, 6)
		if i > 0 {
			b = append(b, `, "mode": "linear"`...)
		}
		b = append(b, '}')
		if i+1 < len(keys) {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	_, err := w.Write(append(b, "  ]\n}\n"...))
	return err
}

func vector(b []byte, v geom.Vec3, decimals int) []byte {
	b = append(b, '[')
	for i := range v {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = number(b, v[i], decimals)
	}
	return append(b, ']')
}

func number(b []byte, v float64, decimals int) []byte {
	scale := math.Pow10(decimals)
	if r := math.Round(v*scale) / scale; r != 0 || v == 0 {
		v = r + 0 // no -0
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}
