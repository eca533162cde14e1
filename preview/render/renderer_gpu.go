package render

import (
	"fmt"
	"image"
	goruntime "runtime"
	"time"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// Renderer draws representations. It implements runtime.Device,
// runtime.Visibility and runtime.TextureRelief. All methods belong to the goroutine
// of the surface that it was made for.
type Renderer struct {
	device    gpu.Device
	options   Options
	info      Info
	programs  *programs
	targets   *targets
	pool      pool
	textures  *textures
	materials materialBuffer
	batches   *batches // nil: off
	shadows   shadows
	lights    lights
	grade     grade
	overlay   overlay
	messages  messages
	gpuTime   time.Duration // of an earlier frame
	wireframe bool          // the device can draw edges
	absolute  bool          // the device has no base vertex

	reps   map[payload.Key]*rep
	queue  []*rep // waiting for their upload, first in, first out
	serial uint64

	// Written every frame.
	frames                   uint64
	block                    gpu.Stream // Frame of the shaders
	objectStream, drawStream gpu.Stream
	lineGeometry             gpu.Geometry

	frame       collected
	shaderBlock *frameBlock // apart, since C may look at no memory that holds Go pointers
	stats       Stats       // of the next Draw
	shown       int         // frames that showed something, while programs were missing
}

var (
	_ runtime.Device        = (*Renderer)(nil)
	_ runtime.Visibility    = (*Renderer)(nil)
	_ runtime.TextureRelief = (*Renderer)(nil)
)

// inFlight is how many frames the processor may be ahead of the GPU.
const inFlight = gpu.InFlight

// A Surface is where a Renderer draws; surface.Surface is one.
type Surface interface {
	// Device returns a new device for the context of the surface; plain keeps it to
	// what every one has. It is closed before the surface is.
	Device(plain bool) gpu.Device
}

// New makes a renderer for a surface, on the goroutine that the surface belongs to.
func New(s Surface, o Options) (*Renderer, error) {
	if o.Width < 0 || o.Height < 0 {
		return nil, fmt.Errorf("render: a picture of %d x %d pixels is not possible", o.Width, o.Height)
	}
	r := &Renderer{reps: map[payload.Key]*rep{}, shaderBlock: new(frameBlock), device: s.Device(o.Plain)}
	r.frame.uploaded, r.frame.stats = r.reps, &r.stats
	caps := r.device.Caps()
	r.info = infoOf(&caps)
	r.info.settle(&o)
	r.wireframe, r.absolute, r.frame.maxDraws = caps.Wireframe, !caps.BaseVertex, caps.MaxDraws
	r.options = o
	r.messages.stage = stageStart
	switch {
	case o.Debug && r.info.DebugOutput:
		r.messages.listen(r.device, o.Logger, &r.frames)
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
	d := r.device
	var err error
	if r.targets, err = newTargets(d, o.Width, o.Height, o.Samples); err != nil {
		return err
	}
	defines := ""
	if o.ShadowSize > 0 {
		defines += "#define SHADOWS\n"
		if err := r.shadows.init(d, o); err != nil {
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
	r.block = d.NewUniforms()
	r.objectStream = d.NewRecords(gpu.RGBA32F, unitObjects, 1<<20)
	r.drawStream = d.NewRecords(gpu.RGBA32UI, unitDraws, 1<<19)
	r.lineGeometry = d.NewGeometry(lineLayout)
	r.overlay.init(d)
	r.pool.device = d
	r.materials.table = d.NewTable(unitMaterials)
	r.materials.grow(4096)
	r.grade.init(d)
	workers := o.TextureWorkers
	if workers <= 0 {
		workers = max(1, min(4, goruntime.GOMAXPROCS(0)/2))
	}
	if r.textures, err = newTextures(d, o, workers); err != nil {
		return err
	}
	if err := d.Err(); err != nil { // which may wait for what was asked before
		return fmt.Errorf("render: %w", err)
	}
	if r.programs, err = newPrograms(d, defines, !i.Software, o.ShadowSize > 0); err != nil {
		return err
	}
	if o.Warm && !r.programs.late {
		if err := r.warm(); err != nil {
			return err
		}
	}
	if o.Debug && i.DebugOutput {
		r.programs.log(o.Logger)
	}
	if r.programs.late {
		return nil
	}
	if err := d.Err(); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	return nil
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
	t, err := newTargets(r.device, width, height, r.options.Samples)
	if err != nil {
		return err
	}
	r.targets.Close()
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
// counters. It allocates nothing once its buffers have grown to the scene. While
// programs are being made beside frames it shows nothing.
func (r *Renderer) Draw(f Frame) Stats {
	start := time.Now()
	if !r.programs.usable() {
		return r.count(time.Since(start))
	}
	r.warmLate()
	at := int(r.frames % inFlight)
	r.frames++
	lap := lapTimer{start}
	r.messages.at(stageFrame)
	r.device.Wait(at)
	r.stats.Wait = lap.next()
	r.gpuTime = r.device.BeginTimer(at)

	c := &r.frame
	r.beginFrame(&f)
	c.collectReps(&f)
	c.collectBatches(r.batches.collectable(), &f)
	c.collectMain(&f)
	if c.shade == shadeLit && r.options.ShadowSize > 0 && f.View != ViewWireframe && !f.Daylight.dark() && r.programs.casts() {
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
	r.targets.Present(gpu.Framebuffer(r.options.Framebuffer))
	r.messages.at(stageFrame)

	r.device.EndTimer()
	r.device.Fence(at)
	r.followPrograms()
	r.textures.align()
	r.stats.Finish = lap.next()
	r.messages.at(stageBetween)
	return r.count(time.Since(start))
}

// beginFrame begins to collect what is drawn of a frame.
func (r *Renderer) beginFrame(f *Frame) {
	r.frame.textures, r.frame.bindings = r.textures.stream, &r.textures.bindings
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

// count completes the counters and begins new ones.
func (r *Renderer) count(cpu time.Duration) Stats {
	s := r.stats
	r.stats = Stats{}
	s.CPU, s.GPU = cpu, r.gpuTime
	s.Pending = len(r.queue)
	for _, n := range r.queue {
		if n.gone {
			s.Pending--
			continue
		}
		s.PendingBytes += int64(n.pending() - n.sent)
	}
	s.Resident = len(r.reps) - s.Pending
	s.GeometryBytes, s.GeometryStorage = r.pool.used, r.pool.allocated()
	s.Materials = r.materials.list.used
	r.textures.count(&s)
	r.batches.count(&s)
	s.Programs = r.programs.lacks()
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
	if r.targets != nil {
		r.targets.Close()
	}
	r.shadows.close()
	r.overlay.close()
	r.grade.close()
	for _, c := range [...]interface{ Close() }{r.block, r.objectStream, r.drawStream, r.lineGeometry, r.materials.table} {
		if c != nil {
			c.Close()
		}
	}
	r.pool.close()
	r.messages.silence()
	r.device.Close()
}
