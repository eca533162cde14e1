package preview

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strconv"
	"time"

	"github.com/untoldkit/untold/internal/imagediff"
	"github.com/untoldkit/untold/preview/internal/camera"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime"
)

// Comparison says how different a scene looks streamed and whole.
type Comparison struct {
	Scene  string       `json:"scene"`
	Device string       `json:"device"` // what OpenGL says about itself
	Width  int          `json:"width"`
	Height int          `json:"height"`
	Views  []Difference `json:"views"`
	stats.CompareFigures
}

// Difference is a view of a Comparison.
type Difference struct {
	Name        string     `json:"name"`
	Position    [3]float64 `json:"position"`
	Forward     [3]float64 `json:"forward"`
	FovYDegrees float64    `json:"fov_y_degrees"`
	SSIM        float64    `json:"ssim"` // mean of luma
	FLIPMean    float64    `json:"flip_mean"`
	FLIPP99     float64    `json:"flip_p99"` // that 99 % of the pixels do not exceed

	// Of the streamed picture: tiles drawn by representation, tiles in view that
	// show nothing, and whether streaming came to rest within two minutes.
	Full      int  `json:"drawn_full"`
	LOD       int  `json:"drawn_lod"`
	HLOD      int  `json:"drawn_hlod"`
	Uncovered int  `json:"uncovered_tiles"`
	AtRest    bool `json:"at_rest"`
	// Triangles in view of either picture, without shadows.
	Triangles      int `json:"triangles"`
	WholeTriangles int `json:"whole_triangles"`

	Streamed *image.NRGBA   `json:"-"`
	Whole    *image.NRGBA   `json:"-"`
	FLIP     *imagediff.Map `json:"-"` // of Streamed, with Whole as its reference
}

// shot is a picture of a view at rest.
type shot struct {
	view      camera.View
	img       *image.NRGBA
	stats     runtime.Stats
	triangles int
	rest      bool
}

// How long streaming may take to come to rest, and for how long nothing may
// happen then, on the virtual clock.
const (
	compareStep  = 100 * time.Millisecond
	compareLimit = 2 * time.Minute
	compareQuiet = 3 * time.Second
)

// Compare takes pictures of the first scene from views, streamed and at rest,
// and with everything at full detail, textures included, and says how different
// they are. views is auto, for views that follow from the scene and its own
// cameras; names of those, separated by commas; or a JSON file (see
// camera.ReadViews). The run is headless and on a virtual clock, so that it
// gives the same pictures every time. The Report is that of the streamed run.
func Compare(ctx context.Context, o Options, views string) (*Comparison, *stats.Report, error) {
	if len(o.Scenes) != 1 {
		return nil, nil, errors.New("preview: one scene at a time can be compared")
	}
	o.Headless, o.NoHUD, o.Show, o.Watch, o.Path, o.Screenshot, o.RecordDir = true, true, Show{}, false, nil, "", ""
	o.FixedDT, o.Frames = compareStep, 1
	o.Config.Batching.Enabled = false // it changes no picture
	var taken [2][]shot
	var reports [2]*stats.Report
	for i := range taken {
		o.Whole = i == 1
		o.shoot = func(a *app) (err error) {
			taken[i], err = a.shots(views)
			return err
		}
		var err error
		if reports[i], err = Run(ctx, o); err != nil {
			return nil, nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	c := &Comparison{Scene: reports[0].Scene, Device: reports[0].Device}
	c.SSIMMin = 1
	for i := range taken[0] {
		d, err := differ(&taken[0][i], &taken[1][i])
		if err != nil {
			return nil, nil, fmt.Errorf("preview: view %s: %w", d.Name, err)
		}
		c.Width, c.Height = d.Whole.Rect.Dx(), d.Whole.Rect.Dy()
		c.FLIPMean, c.FLIPP99, c.SSIMMin = max(c.FLIPMean, d.FLIPMean), max(c.FLIPP99, d.FLIPP99), min(c.SSIMMin, d.SSIM)
		c.Views = append(c.Views, d)
	}
	reports[0].CompareFigures = c.CompareFigures
	return c, reports[0], nil
}

// differ compares two pictures of one view.
func differ(streamed, whole *shot) (d Difference, err error) {
	p, st := &streamed.view.Pose, &streamed.stats
	d = Difference{
		Name: streamed.view.Name, Position: p.Position, Forward: p.Forward, FovYDegrees: p.FovYDegrees,
		Full: st.VisibleFull, LOD: st.VisibleLOD, HLOD: st.VisibleHLOD, Uncovered: st.UncoveredTiles, AtRest: streamed.rest && whole.rest,
		Triangles: streamed.triangles, WholeTriangles: whole.triangles, Streamed: streamed.img, Whole: whole.img,
	}
	if d.SSIM, err = imagediff.SSIM(whole.img, streamed.img); err != nil {
		return d, err
	}
	if d.FLIP, err = imagediff.FLIP(whole.img, streamed.img, imagediff.PixelsPerDegree); err != nil {
		return d, err
	}
	d.FLIPMean, d.FLIPP99 = d.FLIP.Mean(), d.FLIP.Quantile(0.99)
	return d, nil
}

// shots takes a picture of every view. The scene is opened anew for each, so
// that none depends on where the camera was before.
func (a *app) shots(names string) ([]shot, error) {
	views, err := a.cam.views(names, a.shown.open, a.aspect())
	if err != nil {
		return nil, err
	}
	var out []shot
	for i, v := range views {
		if i > 0 {
			if err := a.choose(0); err != nil {
				return nil, err
			}
		}
		if v.Pose.FovYDegrees == 0 {
			v.Pose.FovYDegrees = a.cam.fovY(a.aspect())
		}
		v.Pose.Near, v.Pose.Far = 0, 0
		a.cam.rig.Jump(v.Pose)
		aim := func() { a.cam.followRig(a.aspect()) }
		s := shot{view: v}
		if s.rest, err = a.comeToRest(aim); err != nil {
			return nil, err
		}
		if s.img, err = a.lastPicture(a.ctx); err != nil {
			return nil, err
		}
		a.shown.s.Coverage()
		s.stats, s.triangles = a.shown.s.Stats(), a.stats.Triangles
		out = append(out, s)
		what := "streamed"
		if a.o.Whole {
			what = "whole"
		}
		a.o.Message(fmt.Sprintf("picture %d of %d: %s, %s", i+1, len(views), v.Name, what))
	}
	return out, nil
}

// comeToRest streams without drawing until nothing happens any more; aim sets the
// camera of a frame.
func (a *app) comeToRest(aim func()) (bool, error) {
	quiet, changes := time.Duration(0), uint64(0)
	for at := time.Duration(0); at < compareLimit && quiet < compareQuiet; at += a.o.FixedDT {
		if err := a.ctx.Err(); err != nil {
			return false, err
		}
		aim()
		w := stats.Stopwatch{Last: time.Now()}
		if err := a.advance(&w); err != nil {
			return false, err
		}
		a.clock.now += a.o.FixedDT
		st := a.shown.s.Stats()
		if !a.shown.s.AtRest() || st.RepresentationChanges != changes {
			quiet, changes = 0, st.RepresentationChanges
			continue
		}
		quiet += a.o.FixedDT
	}
	return quiet >= compareQuiet, nil
}

// sheet returns the comparison for people.
func (c *Comparison) sheet() *sheet {
	s := &sheet{
		Title:   c.Scene + ": streamed and whole",
		Summary: fmt.Sprintf("worst: SSIM %.4f, FLIP %.4f (p99 %.4f)", c.SSIMMin, c.FLIPMean, c.FLIPP99),
		Note: fmt.Sprintf("%d x %d pixels, %s. The streamed picture shows the whole one under the pointer."+
			" FLIP is from 0 (the same, black) to 1, as seen at 67 pixels per degree; SSIM is 1 for the same.", c.Width, c.Height, c.Device),
		Columns: [3]string{"streamed", "whole", "FLIP: black is 0, white is 1"},
		Width:   c.Width, Height: c.Height,
		Head: []string{"camera", "SSIM", "FLIP mean", "FLIP p99", "full", "LOD", "HLOD", "triangles", "of", "uncovered"},
	}
	for i := range c.Views {
		d := &c.Views[i]
		s.Rows = append(s.Rows, sheetRow{
			Name: d.Name, Title: d.title(), Subtitle: d.subtitle(), Pictures: [3]image.Image{d.Streamed, d.Whole, d.FLIP.Image()},
			Cells: []string{
				d.Name, fmt.Sprintf("%.4f", d.SSIM), fmt.Sprintf("%.4f", d.FLIPMean), fmt.Sprintf("%.4f", d.FLIPP99),
				strconv.Itoa(d.Full), strconv.Itoa(d.LOD), strconv.Itoa(d.HLOD), strconv.Itoa(d.Triangles), strconv.Itoa(d.WholeTriangles), strconv.Itoa(d.Uncovered),
			},
		})
	}
	return s
}

func (d *Difference) title() string {
	s := fmt.Sprintf("%s: SSIM %.4f, FLIP %.4f, p99 %.4f", d.Name, d.SSIM, d.FLIPMean, d.FLIPP99)
	if !d.AtRest {
		s += "; streaming did not come to rest"
	}
	return s
}

func (d *Difference) subtitle() string {
	s := fmt.Sprintf("drawn: full %d, lod %d, hlod %d; triangles %d of %d", d.Full, d.LOD, d.HLOD, d.Triangles, d.WholeTriangles)
	if d.Uncovered > 0 {
		s += fmt.Sprintf("; %d tiles show nothing", d.Uncovered)
	}
	return s
}
