package texture

import (
	"context"
	"fmt"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// ID names a texture of a Streamer for its Device; no texture is 0. After
// Device.Release an ID may come again for another texture.
type ID uint32

// Device holds the uploaded textures. Its methods are called on the owner
// goroutine of the Streamer and must not block: a device that needs time
// queues the work and comes with a Pacer.
type Device interface {
	// Upload gives a texture these levels in place of those that it has, which
	// should stay in use until the new ones are there. The image is the device's
	// from then on. An error counts as a failed load; then the texture stays as
	// it is.
	Upload(id ID, img *texfile.Image) error
	// Release frees a texture that was uploaded, whether that is finished or
	// not.
	Release(id ID)
}

// Pacer belongs to a Device that spreads uploads over frames. An upload keeps its slot
// until it is finished, so that no more decoded levels pile up than there are
// slots.
type Pacer interface {
	// Uploaded reports whether the last upload of a texture is finished. It is
	// asked once per Update until it says yes.
	Uploaded(id ID) bool
}

// Trimmer belongs to a Device that can make a texture smaller by itself, by a copy of
// the levels that remain. Downgrades then take effect at once, without a file
// being read, which is what memory pressure calls for.
type Trimmer interface {
	// Trim drops the first levels, at least one and never all, and reports
	// whether it did. If not, the smaller chain is loaded.
	Trim(id ID, levels int) bool
}

// StreamOptions configures a Streamer.
type StreamOptions struct {
	Params  config.Textures // required: see ProfileNamed, AlignToManifest
	Device  Device          // required
	Pacer   Pacer           // of the Device; nil: uploads are finished at once
	Trimmer Trimmer         // of the Device; nil: downgrades are loaded
	// Loader reads the files; nil means a FileLoader that the Streamer closes.
	Loader Loader
	// Budget limits the bytes on the device, those on their way included; 0
	// means no limit. While a texture is replaced the device may hold both
	// versions; only the larger one counts.
	Budget int64
	// MaxEdge is the longest edge that the device takes in texels; 0 means no
	// limit.
	MaxEdge int
	// FirstEdge, if above 0, is the longest edge in texels at which cooked textures
	// (.utex, KTX2) come at all first, where that is less than the minimum size: for files
	// that come over a network, of whose levels the smallest are the first bytes. While loads
	// come quickly, those of known scale come at once so large that a texel covers 7 pixels at
	// most. They grow to the minimum size when nothing waits that has not come, and where
	// their scale is known as far as a picture shows it.
	FirstEdge int
	// FirstLoads is how many textures may come for the first time at once; these
	// do not count as operations. 0 means 4.
	FirstLoads int
	// QuickLoads is how many these may be once FirstLoads have come and while they come
	// quickly, within 0.3 s in the mean; less than FirstLoads means as many.
	QuickLoads int
	// Timeout is how long a texture may be on its way, loaded and uploaded, before
	// it is given up: its slot goes to others, and it is tried again after a delay.
	// 0 means 60 s, as config.Config.MeshLoadTimeoutSeconds.
	Timeout time.Duration
	// Scales, if set, says how large textures are in the world; see SetScales.
	Scales Scales
	// NearestFirst takes visible entities by their distance instead of the order
	// of View.Visible.
	NearestFirst bool
	// Trace, if set, is told of everything that happens, on the owner goroutine.
	Trace func(Event)
}

// FirstEdge and FirstLoads of StreamOptions for textures that come over a network, and
// QuickLoads of all: of a texture in BC7 or ASTC the first 1.7 kB, or what one block of a cache
// holds, and so many at a time that waiting for answers does not take longer than the
// bytes. A first picture takes a hundred files, as each node of a pyramid has three or
// four of its own; a slow network has no room for them beside geometry.
const (
	NetworkEdge  = 32
	NetworkLoads = 8
	QuickLoads   = 48
)

// View is what a Streamer needs to know of a frame. The slice is read during
// Update only.
type View struct {
	// Now is the time since an arbitrary but fixed origin; it never goes back.
	Now time.Duration
	// Camera is the point of view in world space, metres: the space of the boxes
	// of Part.
	Camera [3]float64
	// Pixel is what a pixel of the picture covers at a distance of a metre, in
	// metres, by which textures of known scale are chosen: see PixelSize, whose
	// default 0 stands for.
	Pixel float64
	// Visible are the entities that are seen, the most important first.
	Visible []Entity
	// Busy says that geometry is on its way too: textures that have just come small
	// (StreamOptions.FirstEdge) leave it the network until half a second after it, for
	// 2 s at most.
	Busy bool
	// Draft says that what is drawn is the draft of a scene (runtime.Streamer.Drafts). Over a
	// network (StreamOptions.FirstEdge) textures of data that come as a whole leave it to
	// geometry, colours and normals until it has ended, for 8 s at most.
	Draft bool
	// Force makes this Update tick whatever the interval. What waits for quieter times
	// need not, a draft's apart: while the clock stands textures come to rest with it.
	Force bool
}

// Streamer decides how large every texture is and has it loaded. It works on
// entities, which have a world box and textures in slots: near ones are wanted
// at the size of the source, those farther away at the medium and minimum
// sizes of the parameters, with a hysteresis between. Textures
// are shared by file and use; one that several entities use is as large as the
// one that needs most wants it.
//
// Every texture comes first at the minimum size, or smaller: see
// StreamOptions.FirstEdge. Then, in every tick, entities
// that have just been added are served first, visible ones next, and last those
// above the minimum that are not visible. At most ConcurrentOps of them
// change at a time, each only once. Upgrades reserve their bytes before
// anything is read; without room for the full size an entity gets the medium
// one, and else what is more than a tenth farther away gives way to it if that
// makes enough room. Textures of known scale share what memory there is: all that
// are seen are allowed the same blur, and what has more gives way. So textures come
// to rest under a camera that stands still.
//
// One goroutine owns a Streamer. Update does no input or output and never
// waits; in the steady state it does not allocate. The same calls with the same
// answers give the same result, whatever the order in which answers arrive
// between two Updates.
//
// It conducts parts with state of their own: entityTable and textureTable hold the
// records, budget counts bytes, claims says who may take the room that is left, share
// how much blur everybody is allowed while it is short,
// firstLoads is the queue of what has never come, loads is what is under way. It
// keeps what belongs to the tick as a whole.
type Streamer struct {
	device       Device
	pacer        Pacer   // nil: uploads are finished at once
	trimmer      Trimmer // nil: downgrades are loaded
	events       func(Event)
	nearestFirst bool
	hurries      bool // something coarse waits for a slot
	closed       bool

	entities entityTable
	textures textureTable
	budget   budget
	claims   claims
	first    firstLoads
	loads    loads
	share    share

	now      time.Duration
	camera   geom.Vec3
	lastTick time.Duration
	serial   uint64        // of the tick; 0 before the first
	hold     time.Duration // until then nothing goes beyond the medium size
	ops      int           // entities that are changing
	quiet    time.Duration // from then on no geometry is on its way
	forced   bool          // View.Force
	draft    bool          // View.Draft
	drafted  time.Duration // since when
	resting  bool          // the last tick found nothing to do, and nothing has happened since

	ballots []ballot // scratch of votes, by texture
	sights  []sight  // too, while memory may be short
	changes []change // scratch of try
	stats   Stats
}

// NewStreamer returns a Streamer without textures. The error matches ErrParams.
func NewStreamer(o StreamOptions) (*Streamer, error) {
	if err := validate(&o.Params); err != nil {
		return nil, err
	}
	switch {
	case o.Device == nil:
		return nil, fmt.Errorf("%w: no Device", ErrParams)
	case o.Budget < 0 || o.MaxEdge < 0 || o.FirstEdge < 0 || o.FirstLoads < 0 || o.QuickLoads < 0 || o.Timeout < 0:
		return nil, fmt.Errorf("%w: Budget, MaxEdge, FirstEdge, FirstLoads, QuickLoads and Timeout are at least 0", ErrParams)
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.FirstLoads == 0 {
		o.FirstLoads = 4
	}
	s := &Streamer{
		device: o.Device, pacer: o.Pacer, trimmer: o.Trimmer, events: o.Trace, nearestFirst: o.NearestFirst,
		textures: newTextureTable(o.Params, o.Scales, o.MaxEdge, o.FirstEdge),
		budget:   budget{limit: o.Budget},
		claims:   newClaims(),
		first:    firstLoads{limit: o.FirstLoads, most: max(o.FirstLoads, o.QuickLoads)},
		loads:    loads{loader: o.Loader, done: newCompletions(), timeout: o.Timeout},
	}
	if o.Loader == nil {
		s.loads.own = NewFileLoader(FileOptions{})
		s.loads.loader = s.loads.own
	}
	return s, nil
}

// Update takes over what has been loaded and starts what is due.
func (s *Streamer) Update(v View) {
	if s.closed {
		return
	}
	s.now = max(s.now, v.Now)
	if c := geom.Vec3(v.Camera); c.IsFinite() {
		s.camera = c
	}
	s.textures.setPixel(v.Pixel)
	if v.Draft && !s.draft {
		s.drafted = s.now
	}
	s.draft = v.Draft
	switch s.forced = v.Force; {
	case v.Force:
		s.quiet = s.now
	case v.Busy:
		s.quiet = s.now + quietTime
	}
	s.loads.deliver(s.answer)
	s.poll()
	s.watchdog()
	if v.Force || s.Due(s.now) {
		s.lastTick = s.now
		s.serial++
		s.tick(v.Visible)
	}
	load := func(texture int32, edge int, bytes int64) { s.load(texture, -1, edge, bytes, 0) }
	s.first.start(&s.textures, &s.budget, s.defers, load)
	stays := func(t *resource) bool { return s.yields(t) || s.hasShare(t) }
	s.first.grow(&s.textures, &s.budget, s.now, stays, load)
}

// Due reports whether an Update at a time, unless it is forced to, looks at
// View.Visible, which need not be listed otherwise. While something coarse waits for a slot it
// does so as soon as half of them are free.
func (s *Streamer) Due(now time.Duration) bool {
	return s.serial == 0 || max(now, s.now)-s.lastTick >= seconds(s.textures.policy.Interval) ||
		s.hurries && s.ops <= s.textures.policy.ConcurrentOps/2
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// SetBudget changes the budget; 0 means no limit. What is over a smaller one is
// shed in the next ticks, the farthest first.
func (s *Streamer) SetBudget(bytes int64) { s.budget.limit = max(0, bytes) }

// SetParams changes the parameters. The error matches ErrParams; then they stay
// as they are.
func (s *Streamer) SetParams(p config.Textures) error {
	if err := validate(&p); err != nil {
		return err
	}
	s.textures.setParams(p)
	return nil
}

// SetScales says how large textures are in the world, for those that are there
// and those to come. The map is the Streamer's from then on.
func (s *Streamer) SetScales(scales Scales) {
	s.textures.setScales(scales)
	s.resting = false
}

// Params returns the parameters in use.
func (s *Streamer) Params() config.Textures { return s.textures.policy.Textures }

// Arrived is readable while answers wait for the next Update, for callers that
// wait until nothing is left to do. It is never closed.
func (s *Streamer) Arrived() <-chan struct{} { return s.loads.done.box.Ready() }

// Await waits until every load that has been asked for is answered, cancelled
// ones included; the next Update takes the answers over. For runs that must not
// depend on how fast files are read: call it before each Update. The error is
// the context's.
func (s *Streamer) Await(ctx context.Context) error {
	return s.loads.done.box.Await(ctx, s.loads.token)
}

// Retry loads missing textures again, and ends the delays after failures: for
// files that may have come in the meantime.
func (s *Streamer) Retry() {
	for i := range s.textures.list {
		t := &s.textures.list[i]
		t.failures, t.retryAt = 0, 0
		if t.state == stateMissing {
			s.first.push(int32(i), &s.textures)
		}
	}
}

// Close releases all textures and ends what is being loaded. A Loader that was
// passed in belongs to the caller, who closes it afterwards. Close may be
// called more than once.
func (s *Streamer) Close() error {
	if s.closed {
		return nil
	}
	for i := range s.entities.list {
		if e := &s.entities.list[i]; e.live {
			s.Remove(e.handle(int32(i)))
		}
	}
	s.closed = true
	s.loads.done.box.Close()
	if s.loads.own != nil {
		return s.loads.own.Close()
	}
	return nil
}
