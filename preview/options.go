package preview

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"time"

	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/preview/surface"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/memory"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/simulate"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Available reports whether this program was built with OpenGL. Without it Run
// fails with surface.ErrUnavailable.
const Available = available

// ErrUnavailable is matched by the error of Run in a program that was built
// without OpenGL.
var ErrUnavailable = surface.ErrUnavailable

// Options say what Run shows and how. Scenes and Config are required.
type Options struct {
	Scenes []Scene // the first is shown, the others can be chosen
	Config config.Config
	// Loader reads and decodes payloads in the place of the program, as Render.TextureReader
	// does with textures; nil: it does so itself.
	Loader payload.Loader
	// TextureChanges is how many textured things may change their textures at a time in real
	// time, if that is more than the parameters of the scene's textures say.
	TextureChanges int
	// Fetcher brings the payloads of remote scenes; nil: all are local.
	Fetcher payload.Fetcher
	// TextureSource opens the files of textures that the Fetcher does not bring with
	// their payloads; nil: there are none.
	TextureSource texfile.Source
	// AwaitTextures waits for the textures of remote scenes that are on their
	// way, before the last picture; nil: none are.
	AwaitTextures func(context.Context) error
	// World is where a scene is shown, and what streams beside it. In virtual time
	// the manifests of regions are read before the first frame.
	simulate.World
	// Open opens what is dropped onto the window; nil: package Open.
	Open func(path string) ([]Scene, error)

	Headless      bool // no window
	Width, Height int  // pixels; 0: 1280 x 720
	// Frames ends the run after so many frames. 0: a headless run ends with its
	// camera path, or, when there is a Screenshot, as soon as nothing is left
	// to load; otherwise with the context.
	Frames int

	// FPS is how many frames a second a headless run in real time draws; 0: 60,
	// negative: as many as it can.
	FPS int

	// Path moves the camera; in a window until a person takes over. Duration
	// is when it ends; 0: with its last key.
	Path     *simulate.CameraPath
	Duration time.Duration
	// FixedDT makes time virtual, see the package comment; headless only.
	FixedDT time.Duration
	// Latency is the time from a load's request to its answer, at least, and
	// with FixedDT exactly; there nil means 50 ms.
	Latency *time.Duration

	View render.ViewMode
	Show Show
	// Lighting says whose lights a scene is shown in; zero: LightingAuto.
	Lighting Lighting
	// NoGrade starts without the colour table of the scene.
	NoGrade bool
	NoHUD   bool // a window starts without the panel and the map
	Whole   bool // all tiles in full detail, whatever their distance
	Watch   bool // reload a scene that was cooked again
	Render  render.Options
	Message func(text string) // news for the terminal; nil: dropped
	Logger  *slog.Logger      // of the runtime and of OpenGL; nil: silent

	// Start is where the camera of the first scene starts: its position, direction
	// and field of view, and its planes where both are above 0; nil: as the scene says.
	Start *runtime.Camera
	// Viewpoint is the camera of the first scene's author at which to start, as
	// ViewpointOf finds it; "": as Start says, and so it is, with a message, where the
	// scene has no such camera.
	Viewpoint string
	// Control moves the camera and chooses views from outside; nil: nobody does.
	Control *Control
	// KeepOpen says that Escape does not end the run.
	KeepOpen bool

	Screenshot string // PNG file of the last frame
	RecordDir  string // folder for a PNG file of every frame
	// OnRecord gets every event as it happens, in the form of the simulator.
	OnRecord func(*simulate.Record) error
	// OnFrame gets what each frame took; the Frame is used again afterwards.
	OnFrame func(*stats.Frame) error
	// OnStatus is told after every frame how it stands; the Status is used again
	// afterwards.
	OnStatus func(*Status)

	onTexture  func(*texture.Event, texture.Slot) // of the run
	onWhite    func(texture.Slot, error)          // of the run
	shoot      func(*app) error                   // takes the place of the frames
	late       *late                              // stands between a run on a virtual clock and the renderer
	wall       func() time.Duration               // the clock on the wall since frame 0; of tests
	memoryRoot string                             // stands for / in package memory; of tests
}

// Status is how a run stands, for a program that shows it in a way of its own.
type Status struct {
	Scene   string
	Camera  runtime.Camera
	Missing float64       // share of what is wanted that is on its way, by bytes; 0: nothing is
	Frame   *stats.Frame  // the last one
	Stream  runtime.Stats // after it
	Drawn   render.Stats
	// ErrorPixels is how far what is drawn may be from full detail, in pixels of the
	// picture.
	ErrorPixels float64
	View        render.ViewMode
	Viewpoints  []Viewpoint // of the scene's author
}

// Show is what is drawn over the scene.
type Show struct {
	Panel     bool // figures and frame graph
	Map       bool
	Help      bool
	Boxes     bool // of tiles, by state
	Octree    bool // leaves of the spatial index
	Occlusion bool // what loaded tiles cover
	Rings     bool // the camera's streaming, prefetch and unload radius
	Cells     bool // of static batches, by state
	Wireframe bool
}

const (
	defaultWidth, defaultHeight = 1280, 720
	maxEdge                     = 16384
	defaultFPS                  = 60
)

func (o *Options) check() error {
	if len(o.Scenes) == 0 {
		return errors.New("preview: no scene to show")
	}
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = defaultWidth, defaultHeight
	}
	switch {
	case o.Width < 1 || o.Height < 1 || o.Width > maxEdge || o.Height > maxEdge:
		return fmt.Errorf("preview: a picture of %d x %d pixels: want 1 to %d", o.Width, o.Height, maxEdge)
	case o.Frames < 0 || o.Duration < 0 || o.FixedDT < 0 || o.Latency != nil && *o.Latency < 0:
		return errors.New("preview: frames and times must not be negative")
	case o.FixedDT > 0 && !o.Headless:
		return errors.New("preview: a fixed frame time needs a headless run: a window follows the clock on the wall")
	case o.FixedDT > 0 && o.Frames == 0 && o.Path == nil && o.Screenshot == "":
		return errors.New("preview: with a fixed frame time give a number of frames or a camera path")
	}
	if o.Message == nil {
		o.Message = func(string) {}
	}
	if o.Open == nil {
		o.Open = func(path string) ([]Scene, error) { return Open(path) }
	}
	return o.Config.Validate()
}

// timed reports whether anyone looks at how long frames take: neither on a
// virtual clock nor where only a picture is wanted.
func (o *Options) timed() bool {
	return o.FixedDT == 0 && !(o.Headless && o.Path == nil && o.Screenshot != "")
}

// frameTime is the time from one frame to the next of a headless run in real
// time.
func (o *Options) frameTime() time.Duration {
	switch {
	case o.FPS < 0:
		return 0
	case o.FPS == 0:
		return time.Second / defaultFPS
	}
	return time.Second / time.Duration(o.FPS)
}

// renderer is what the app needs of a render.Renderer.
type renderer interface {
	runtime.Device
	runtime.Visibility
	runtime.Packer
	Info() render.Info
	Pump(render.Budget) (idle bool)
	Settle(context.Context) error
	runtime.TextureRelief
	runtime.Prewarmer
	SetTextures(p config.Textures, budget int64) error
	SetTextureScales(texture.Scales)
	StreamTextures(render.TextureView)
	TexelPixels(camera runtime.Camera, drawn []runtime.Drawn) float64
	AwaitTextures(context.Context) error
	RetryTextures()
	simulate.TextureCanvas
	SetBatching(*render.BatchOptions)
	SetBatchScene(id payload.SceneID, cell float64)
	LimitBatches(bytes int64)
	RelieveBatches(memory.PressureLevel)
	AppendBatchCells([]batch.Cell) []batch.Cell
	Resize(width, height int) error
	SetGrade(*cube.Table) error
	Draw(render.Frame) render.Stats
	ReadPixels() *image.NRGBA
	Close()
}
