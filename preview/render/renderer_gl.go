//go:build cgo && !nopreview

package render

import (
	"errors"
	"fmt"
	"image"
	goruntime "runtime"
	"time"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// Renderer draws representations. It implements runtime.Device,
// runtime.Visibility and runtime.TextureRelief. All methods belong to the goroutine whose OpenGL context
// was current in New.
type Renderer struct {
	options   Options
	info      Info
	programs  *programs
	targets   *targets
	pool      pool
	textures  *textures
	materials materialBuffer
	batches   *batches // nil: off
	shadows   shadows
	overlay   overlay
	timer     timer
	messages  messages

	reps   map[payload.Key]*rep
	queue  []*rep // waiting for their upload, first in, first out
	serial uint64

	// Written every frame.
	frames                                              uint64
	fences                                              [inFlight]uintptr
	staging                                             staging
	block                                               stream // Frame of the shaders
	objectStream, drawStream, commandStream, lineStream stream

	frame       collected
	shaderBlock *frameBlock // apart, since C may look at no memory that holds Go pointers
	stats       Stats       // of the next Draw
}

var (
	_ runtime.Device        = (*Renderer)(nil)
	_ runtime.Visibility    = (*Renderer)(nil)
	_ runtime.TextureRelief = (*Renderer)(nil)
)

// New makes a renderer for the OpenGL context that is current on this
// goroutine.
func New(o Options) (*Renderer, error) {
	if o.Width < 0 || o.Height < 0 {
		return nil, fmt.Errorf("render: a picture of %d x %d pixels is not possible", o.Width, o.Height)
	}
	r := &Renderer{reps: map[payload.Key]*rep{}, shaderBlock: new(frameBlock)}
	r.frame.uploaded, r.frame.stats = r.reps, &r.stats
	r.info = capabilities(&o)
	r.info.settle(&o)
	r.options = o
	r.messages.stage = stageStart
	switch {
	case o.Debug && r.info.DebugOutput:
		r.messages.listen(o.Logger, &r.frames)
	case o.Debug:
		o.Logger.Warn("OpenGL says nothing: the driver has no GL_KHR_debug")
	}
	if err := r.init(); err != nil {
		r.Close()
		return nil, err
	}
	r.messages.stage = stageBetween
	return r, nil
}

func (r *Renderer) init() error {
	o, i := &r.options, &r.info
	gl.Enable(gl.FRAMEBUFFER_SRGB)
	if i.ReverseZ {
		gl.ClipControl(gl.LOWER_LEFT, gl.ZERO_TO_ONE)
	}
	var err error
	if r.targets, err = newTargets(o.Width, o.Height, o.Samples); err != nil {
		return err
	}
	defines := ""
	if o.ShadowSize > 0 {
		defines += "#define SHADOWS\n"
		if err := r.shadows.init(o); err != nil {
			return err
		}
	}
	if i.Software {
		defines += "#define FEW_TAPS\n"
	}
	if o.Samples > 1 {
		defines += "#define COVERAGE\n"
	}
	if o.Tone == ToneACES {
		defines += "#define TONE_ACES\n"
	}
	if r.programs, err = newPrograms(defines); err != nil {
		return err
	}
	stream := func(target, format uint32, floor int) stream {
		return stream{target: target, format: format, floor: floor, persistent: i.PersistentMap}
	}
	r.block = stream(gl.UNIFORM_BUFFER, 0, 0)
	r.objectStream = stream(gl.TEXTURE_BUFFER, gl.RGBA32F, 1<<20)
	r.drawStream = stream(gl.TEXTURE_BUFFER, gl.RGBA32UI, 1<<19)
	r.commandStream = stream(gl.DRAW_INDIRECT_BUFFER, 0, 1<<19)
	r.lineStream = stream(gl.ARRAY_BUFFER, 0, 0)
	r.staging.init(i.PersistentMap)
	// An object takes four texels, and there are no more objects than draws.
	r.frame.maxDraws = min(maxDrawsPerFrame, int(integer(gl.MAX_TEXTURE_BUFFER_SIZE))/4)
	r.overlay.init(i.PersistentMap)
	if i.MultiDraw {
		r.pool.ids = newIDs(r.frame.maxDraws)
	}
	r.materials.grow(4096)
	workers := o.TextureWorkers
	if workers <= 0 {
		workers = max(1, min(4, goruntime.GOMAXPROCS(0)/2))
	}
	if r.textures, err = newTextures(o, i, workers); err != nil {
		return err
	}
	r.timer.init(!i.Software)
	if o.Warm {
		if err := r.warm(); err != nil {
			return err
		}
	}
	if o.Debug && i.DebugOutput {
		r.programs.log(o.Logger)
	}
	for range 16 {
		if e := gl.GetError(); e == gl.NO_ERROR {
			return nil
		} else {
			err = errors.Join(err, fmt.Errorf("render: OpenGL error 0x%x", e))
		}
	}
	return err
}

// Info says what the driver has and what the options became.
func (r *Renderer) Info() Info { return r.info }

// Resize changes the size of the picture.
func (r *Renderer) Resize(width, height int) error {
	if width < 1 || height < 1 || width > r.info.MaxTexture<<2 || height > r.info.MaxTexture<<2 {
		return fmt.Errorf("render: a picture of %d x %d pixels is not possible", width, height)
	}
	if width == r.targets.width && height == r.targets.height {
		return nil
	}
	t, err := newTargets(width, height, r.options.Samples)
	if err != nil {
		return err
	}
	r.targets.close()
	r.targets = t
	return nil
}

// ReadPixels waits for the picture of the last Draw and returns it: sRGB,
// opaque, the top row first.
func (r *Renderer) ReadPixels() *image.NRGBA {
	r.messages.at(stagePicture)
	defer r.messages.at(stageBetween)
	return r.targets.read()
}

// Draw draws a frame, copies it to Options.Framebuffer and returns the
// counters. It allocates nothing once its buffers have grown to the scene.
func (r *Renderer) Draw(f Frame) Stats {
	start := time.Now()
	at := int(r.frames % inFlight)
	r.frames++
	lap := lapTimer{start}
	r.messages.at(stageFrame)
	r.wait(at)
	r.staging.passed(at)
	r.stats.Wait = lap.next()
	r.timer.begin(at)

	c := &r.frame
	r.beginFrame(&f)
	c.collectReps(&f)
	c.collectBatches(r.batches.collectable(), &f)
	c.collectMain(&f)
	if c.shade == shadeLit && r.options.ShadowSize > 0 && f.View != ViewWireframe {
		r.shadows.plan(c, f.Bounds)
	}
	r.uploadFrame(at, &f)
	r.stats.Collect = lap.next()
	r.messages.at(stageShadows)
	r.drawShadows()
	r.stats.Shadow = lap.next()
	r.messages.at(stageScene)
	r.drawScene(at, &f)
	r.stats.Scene = lap.next()
	r.messages.at(stageOverlay)
	r.overlay.draw(r, at, f.Overlay)
	r.messages.at(stagePresent)
	r.targets.present(r.options.Framebuffer)
	r.messages.at(stageFrame)

	r.timer.end(at)
	if r.fences[at] != 0 {
		gl.DeleteSync(r.fences[at])
	}
	r.fences[at] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	r.staging.submit(at)
	r.stats.Finish = lap.next()
	r.messages.at(stageBetween)
	return r.count(time.Since(start))
}

// beginFrame begins to collect what is drawn of a frame.
func (r *Renderer) beginFrame(f *Frame) {
	r.frame.textures = r.textures.stream
	r.frame.begin(f, r.frames, float64(r.targets.width)/float64(r.targets.height))
}

// lapTimer measures one part after the other.
type lapTimer struct{ last time.Time }

// next returns the time since the last call.
func (l *lapTimer) next() time.Duration {
	now := time.Now()
	d := now.Sub(l.last)
	l.last = now
	return d
}

// fenceStep is how long the wait for the GPU sleeps between two looks.
const fenceStep = 100 * time.Microsecond

// wait waits until the GPU is done with the frame that used the same buffers. It
// sleeps: drivers that wait in a call keep a processor busy all the time.
func (r *Renderer) wait(at int) {
	if r.fences[at] == 0 {
		return
	}
	if r.info.Software { // which has nothing else to do
		for gl.ClientWaitSync(r.fences[at], gl.SYNC_FLUSH_COMMANDS_BIT, uint64(time.Second)) == gl.TIMEOUT_EXPIRED {
		}
		return
	}
	for gl.ClientWaitSync(r.fences[at], gl.SYNC_FLUSH_COMMANDS_BIT, 0) == gl.TIMEOUT_EXPIRED {
		time.Sleep(fenceStep)
	}
}

// count completes the counters and begins new ones.
func (r *Renderer) count(cpu time.Duration) Stats {
	s := r.stats
	r.stats = Stats{}
	s.CPU, s.GPU = cpu, r.timer.last
	s.Pending = len(r.queue)
	for _, n := range r.queue {
		if n.gone {
			s.Pending--
			continue
		}
		s.PendingBytes += int64(len(n.vertices) + len(n.indices) - n.sent)
	}
	s.Resident = len(r.reps) - s.Pending
	s.GeometryBytes, s.GeometryStorage = r.pool.used, r.pool.allocated()
	s.Materials = r.materials.list.used
	r.textures.count(&s)
	r.batches.count(&s)
	r.messages.count(&s)
	return s
}

// Close frees everything, also what was never released. The context must still
// be current.
func (r *Renderer) Close() {
	r.messages.stage = stageEnd
	r.SetBatching(nil)
	for key := range r.reps {
		r.Release(key)
	}
	if r.textures != nil {
		if err := r.textures.close(); err != nil {
			r.options.Logger.Warn("textures", "error", err)
		}
	}
	if r.programs != nil {
		r.programs.close()
	}
	r.targets.close()
	r.shadows.close()
	r.overlay.close()
	r.timer.close()
	for _, s := range [...]*stream{&r.block, &r.objectStream, &r.drawStream, &r.commandStream, &r.lineStream} {
		s.close()
	}
	r.staging.close()
	r.materials.close()
	r.pool.close()
	if r.pool.ids != 0 {
		gl.DeleteBuffers(1, &r.pool.ids)
	}
	for _, f := range r.fences {
		if f != 0 {
			gl.DeleteSync(f)
		}
	}
	r.messages.silence()
}
