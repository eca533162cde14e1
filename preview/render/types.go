package render

import (
	"image"
	"log/slog"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Options configures a Renderer. The zero value is useful.
type Options struct {
	Width, Height int    // pixels of the picture; 0: 1280 x 720
	Framebuffer   uint32 // where Draw leaves the picture (surface.Framebuffer)

	// Samples per pixel against jagged edges: 1 is off. 0 means 4, but 1 on
	// software renderers, where four samples treble the time. Clamped to what
	// the driver has.
	Samples int
	// ShadowSize is the edge of one cascade's shadow map in texels, of which
	// there are two for each; 0 means
	// 2048 (1024 for pictures below 480 rows), negative means no shadows.
	ShadowSize int
	// Cascades is the number of shadow cascades, 1 to 4; 0 means 4. The last of
	// several is for what lies beyond ShadowDistance, and rests while nothing
	// does.
	Cascades int
	// ShadowDistance is how far the sharper cascades reach in metres, less where
	// all is near, farther where all is far away; 0 means 400.
	ShadowDistance float64
	// MaxTexture limits the edge of textures in pixels: larger images start at
	// the mip level that fits. 0 means 2048; clamped to what the driver has.
	MaxTexture int
	// Anisotropy is the largest ratio of anisotropic filtering; 1 is off. 0
	// means 4 (1 on software renderers).
	Anisotropy int
	// Textures steers texture streaming; zero means the default profile.
	Textures config.Textures
	// TextureBudget limits the bytes of textures on the GPU; 0 means no limit.
	// While a texture is replaced both versions are there; the larger counts.
	TextureBudget int64
	// TextureTimeout is how long a load or an upload of a texture may take before
	// it is tried again; 0 means the default of runtime/texture.
	TextureTimeout time.Duration
	// TextureWorkers is how many goroutines decode textures; 0 means half the
	// processors, at least 1, at most 4.
	TextureWorkers int
	// TextureSource, when set, opens the files of the folders that it knows.
	TextureSource texfile.Source
	// TextureReader, when set, reads and decodes textures in the place of the
	// program; TextureWorkers is then how many at a time.
	TextureReader texture.Reader
	// OnTexture, when set, is told of everything that happens to textures, on the
	// goroutine of the Renderer; not while another Streamer is followed.
	OnTexture func(e *texture.Event, slot texture.Slot)
	// OnWhite, when set, is told of every texture that cannot be read or uploaded,
	// so that white, or what is neutral for its use, is drawn in its place: each
	// time that this was tried, on the goroutine of the Renderer.
	OnWhite func(slot texture.Slot, err error)
	// NoTextures draws every material by its factors alone.
	NoTextures bool

	// Tone is the curve from light to display colours.
	Tone Tone

	// Warm has New draw with everything once, so that the driver compiles it
	// then and not in the frames that need it first.
	Warm bool

	// Plain keeps to OpenGL 4.1 core where extensions would be used, to test
	// that path.
	Plain bool
	// Debug asks the driver for its messages, counts them and writes the first of
	// each kind to Logger.
	Debug  bool
	Logger *slog.Logger // nil: silent
}

// Budget limits the work of Pump. Zero fields mean no limit; one piece is
// always done, so that a small budget makes progress.
type Budget struct {
	Time  time.Duration
	Bytes int64
}

// Tone is a curve from light to display colours.
type Tone uint8

// The curves.
const (
	ToneNeutral Tone = iota // Khronos PBR Neutral, which keeps hues
	ToneACES                // Narkowicz' fit of ACES, by channel: more contrast, bright colours tend to yellow, cyan and magenta
	tones
)

var toneNames = [...]string{"neutral", "aces"}

// String returns the curve's name in lower case.
func (t Tone) String() string { return toneNames[min(t, tones-1)] }

// ParseTone is the inverse of String.
func ParseTone(s string) (Tone, bool) {
	for i, n := range toneNames {
		if n == s {
			return Tone(i), true
		}
	}
	return ToneNeutral, false
}

// ViewMode chooses what the picture shows.
type ViewMode uint8

// The views.
const (
	ViewLit          ViewMode = iota // the shaded scene
	ViewLOD                          // full detail red, LOD 1.. green, blue, yellow, magenta, HLOD cyan
	ViewTiles                        // one colour per tile
	ViewBatches                      // one colour per static batch, grey: drawn alone
	ViewTextureTiers                 // by the size that base colour textures have now, see TextureColors
	ViewAlbedo                       // base colour, unlit
	ViewNormals                      // shading normals
	ViewWireframe                    // edges only
	viewModes
)

var viewNames = [...]string{"lit", "lod", "tiles", "batches", "textures", "albedo", "normals", "wireframe"}

// String returns the view's name in lower case.
func (v ViewMode) String() string { return viewNames[min(v, viewModes-1)] }

// ParseViewMode is the inverse of String.
func ParseViewMode(s string) (ViewMode, bool) {
	for i, n := range viewNames {
		if n == s {
			return ViewMode(i), true
		}
	}
	return ViewLit, false
}

// ViewModes returns all views in order.
func ViewModes() []ViewMode {
	out := make([]ViewMode, viewModes)
	for i := range out {
		out[i] = ViewMode(i)
	}
	return out
}

// Frame is what to draw. The slices are read during Draw only.
type Frame struct {
	// Camera is the point of view. Its Far is ignored where the depth buffer
	// can hold an infinite scene (Info.ReverseZ).
	Camera runtime.Camera
	// Drawn is the streamer's list, in its order.
	Drawn []runtime.Drawn
	// Root returns the transform from a scene to the world; nil means identity.
	Root func(payload.SceneID) geom.Mat4
	// CullCamera is the camera whose frustum culls; nil means Camera.
	CullCamera *runtime.Camera
	// View chooses what is shown.
	View ViewMode
	// Wireframe draws edges over the picture.
	Wireframe bool
	// Bounds is the box of the scene in the world, beyond which no shadow has to
	// reach; nil means that it is not known.
	Bounds *geom.Box
	// Sun points from the scene to the sun, any length; zero means the default,
	// a sun in the afternoon.
	Sun [3]float64
	// Daylight is how bright sun and sky are; nil: as on a clear day.
	Daylight *Daylight
	// Lights are those of the scene's author beside the sun, of which the 32 that
	// are brightest at the camera are drawn; sun and sky stay as they are.
	Lights []Light
	// Grade has the picture graded by the table of SetGrade.
	Grade bool
	// Exposure is in stops: 0 is neutral, 1 twice as bright.
	Exposure float64
	// Lines are drawn in the scene, hidden by what is before them.
	Lines []Line
	// LinesOnTop are drawn in the scene over everything.
	LinesOnTop []Line
	// Overlay is drawn last, over everything.
	Overlay *Overlay
}

// Line is a line of one pixel in world space, sRGB with straight alpha.
type Line struct {
	A, B  [3]float32
	Color [4]uint8
}

// Overlay is a list of triangles over the picture, in display colours (sRGB
// values are blended as they are, which is what text wants).
type Overlay struct {
	Vertices []OverlayVertex
	Indices  []uint32
	// Atlas is sampled by the triangles and multiplied into alpha. It is
	// uploaded when the pointer changes. Nil counts as opaque everywhere.
	Atlas *image.Alpha
}

// OverlayVertex is a corner of the overlay.
type OverlayVertex struct {
	X, Y  float32 // pixels from the top left
	U, V  float32 // in the atlas, 0 to 1, from its top left
	Color [4]uint8
}

// Info says what the driver has.
type Info struct {
	Vendor, Device, Version string
	ReverseZ                bool // floating-point depth with the far plane at infinity
	MultiDraw               bool // one call draws many meshes
	PersistentMap           bool
	TextureStorage          bool
	Blocks                  bool // BC7 and BC5 textures are kept as they are
	ASTC                    bool // and so are those of ASTC
	CopyImage               bool // textures become smaller without being read again
	DebugOutput             bool
	Software                bool // drawn by the processor
	Samples                 int
	MaxTexture              int
	ShadowSize, Cascades    int // ShadowSize 0: no shadows
	Anisotropy              int
	// DedicatedBytes is the memory of the graphics card, 0 when unknown.
	DedicatedBytes int64
}

// Stats are the counters of one frame and the totals at its end.
type Stats struct {
	// This frame.
	Draws           int // meshes drawn, shadows not counted
	Calls           int // draw calls issued for them
	Instanced       int // meshes drawn as further instances of a draw of the same geometry
	Culled          int // meshes outside the view
	Triangles       int
	ShadowDraws     int
	ShadowCalls     int
	ShadowTriangles int
	ShadowCascades  int // shadow maps that were completed
	ShadowLate      int // frames for which a change of what casts shadows has been waiting, at most
	Blended         int // meshes drawn with blending
	NotResident     int // entries of Drawn that are not uploaded
	CPU             time.Duration
	GPU             time.Duration // of an earlier frame; 0 where the driver cannot tell

	// The parts of CPU.
	Wait    time.Duration // for the GPU to end the frame that used the same buffers
	Collect time.Duration // culling, ordering, writing what the shaders read
	Shadow  time.Duration // issuing the shadow maps
	Scene   time.Duration // issuing the view
	Finish  time.Duration // the overlay, the copy to the surface and handing it all to the driver

	// Pump since the last Draw.
	UploadBytes  int64
	UploadTime   time.Duration
	UploadPieces int

	// Now.
	Resident        int // representations uploaded
	Pending         int // representations that wait for their upload
	PendingBytes    int64
	GeometryBytes   int64 // used by geometry
	GeometryStorage int64 // allocated for geometry
	Materials       int
	Textures        int // images in use, the missing ones aside
	TexturesPending int // that come or change their size
	Programs        int // of the GPU that are still being made
	TexturesMissing int // not found or not readable: drawn white
	TextureBytes    int64
	TextureStorage  int64 // allocated for textures: layers that are idle, and those that come, count too
	TextureBudget   int64 // 0: no limit

	BatchStats

	// Since New.
	TextureUpgrades, TextureDowngrades uint64 // to a larger, to a smaller size
	TextureStream                      texture.Stats
	TextureBytesLoaded                 int64 // of all that was handed to the GPU

	// What the driver has said, with Options.Debug: errors, and messages about
	// performance, those of New apart. Reading pictures does not count.
	GLErrors, GLPerformance, GLPerformanceStart int
}
