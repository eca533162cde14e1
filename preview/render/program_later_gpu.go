package render

import "github.com/untoldkit/untold/preview/internal/gpu"

// coming are programs that are not there yet, where the device makes them beside frames. A
// driver may make them one after another, a tenth of a second each, with what frames ask
// of it in the same line. So a picture waits for no more than it cannot do without, and no
// frame for two.
type coming struct {
	late  bool                          // the device makes them beside frames
	waits []gpu.Program                 // of which no picture can do without one
	rest  []func() (gpu.Program, error) // make what no first picture needs, not begun yet
	// making is the one of those that was begun last, 0 once it is made.
	making gpu.Program
	seldom int  // the last of rest are seen on request alone
	cold   bool // nothing was drawn yet with all of them, see warm
}

// wait has pictures wait for a program.
func (c *coming) wait(p gpu.Program) {
	if c.late {
		c.waits = append(c.waits, p)
	}
}

// missing is how many programs are still to come.
func (c *coming) missing() int { return len(c.waits) + c.following() }

// following is how many of them no first picture needs.
func (c *coming) following() int {
	n := len(c.rest)
	if c.making != 0 {
		n++
	}
	return n
}

// lacks is how many of them the lit view is without.
func (c *coming) lacks() int { return len(c.waits) + max(0, c.following()-c.seldom) }

// usable reports whether what no picture can do without is made.
func (p *programs) usable() bool {
	for len(p.waits) > 0 {
		if !p.device.Ready(p.waits[0]) {
			return false
		}
		p.waits = p.waits[1:]
	}
	return true
}

// follow begins the next of the programs that no first picture needs, when the one before
// is made.
func (p *programs) follow() (err error) {
	if p.making != 0 && !p.device.Ready(p.making) {
		return nil
	}
	p.making = 0
	if len(p.rest) == 0 {
		return nil
	}
	next := p.rest[0]
	p.rest = p.rest[1:]
	made, err := next()
	if p.late {
		p.making = made
	}
	return err
}

// followSeldom has what is seen on request alone follow, too: at the press of a key no
// frame then waits for it.
func (p *programs) followSeldom() {
	p.cold = true
	before := len(p.rest)
	p.rest = append(p.rest, func() (gpu.Program, error) {
		if p.line.Program != 0 {
			return p.line.Program, nil
		}
		err := p.line.build(p, lineVertexFiles, lineFragmentFiles, true)
		return p.line.Program, err
	})
	if p.device.Caps().Wireframe {
		p.rest = append(p.rest, func() (gpu.Program, error) {
			if p.wire.Program != 0 {
				return p.wire.Program, nil
			}
			err := p.wire.build(p, meshVertex, wireFragment, true)
			p.findWire()
			return p.wire.Program, err
		})
	}
	for k := range meshKinds {
		p.rest = append(p.rest, func() (gpu.Program, error) { return p.debugProgram(k, true) })
	}
	p.seldom = len(p.rest) - before
}

// has reports whether a program is made. Who is there without it comes in a later frame.
func (p *programs) has(made gpu.Program) bool { return made != 0 && made != p.making }

// casts reports whether shadows can be drawn.
func (p *programs) casts() bool {
	for _, made := range p.shadow {
		if !p.has(made) {
			return false
		}
	}
	return true
}

// firstFrames is how many frames show something before what they can do without follows:
// the first of them is seen before a driver is kept busy again.
const firstFrames = 3

// followPrograms begins what no first picture needs.
func (r *Renderer) followPrograms() {
	if r.stats.Draws == 0 || r.programs.missing() == 0 {
		return
	}
	if r.shown++; r.shown <= firstFrames {
		return
	}
	if err := r.programs.follow(); err != nil {
		r.options.Logger.Error("a part of the picture cannot be shown", "error", err)
	}
}

// warmLate warms the programs once all are made, between two frames.
func (r *Renderer) warmLate() {
	if !r.programs.cold || r.programs.missing() > 0 || !r.options.Warm {
		return
	}
	r.programs.cold = false
	stats, batches := r.stats, r.batches
	r.batches = nil // which are of what is drawn
	if err := r.warm(); err != nil {
		r.options.Logger.Warn("programs are compiled when they are seen", "error", err)
	}
	r.stats, r.batches = stats, batches
}
