package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/imagediff"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
)

// popThreshold is how much a channel of a pixel has to change, of 255, for
// somebody to see it pop.
const popThreshold = 32

// Pops says what is seen of the moments in which tiles change what they show:
// each time the picture before and the picture after, from where the camera is
// then.
type Pops struct {
	Scene    string  `json:"scene"`
	Device   string  `json:"device"` // what OpenGL says about itself
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	Seconds  float64 `json:"seconds"` // of the path
	Frames   int     `json:"frames"`
	Switches []Pop   `json:"switches"` // by time
	stats.PopFigures
}

// Pop is a frame in which tiles change what they show.
type Pop struct {
	T        float64      `json:"t"` // seconds
	Position [3]float64   `json:"position"`
	Forward  [3]float64   `json:"forward"`
	FLIP     float64      `json:"flip"`    // mean difference that is seen, 0 to 1
	Changed  float64      `json:"changed"` // share of the pixels of which a channel changes by more than 32 of 255
	Tiles    []TileSwitch `json:"tiles"`

	Before *image.NRGBA   `json:"-"` // of the worst ones only
	After  *image.NRGBA   `json:"-"`
	Map    *imagediff.Map `json:"-"` // FLIP of each pixel, with Before as its reference
}

// TileSwitch is a tile and what it shows before and after; none is nothing.
type TileSwitch struct {
	Tile string `json:"tile"`
	From string `json:"from"`
	To   string `json:"to"`
}

// popPictures is how many of the worst switches keep their pictures.
const popPictures = 8

// FindPops moves the camera along o.Path through the first scene, streamed, and
// compares the pictures before and after the switches of each frame. It starts
// when all that is wanted from the first place has come. The run is headless and
// on a virtual clock, with frames of o.FixedDT, 0: 1/30 s.
func FindPops(ctx context.Context, o Options) (*Pops, *stats.Report, error) {
	if len(o.Scenes) != 1 || o.Path == nil || len(o.Path.Keys) == 0 {
		return nil, nil, errors.New("preview: switches are looked for in one scene along a camera path")
	}
	o.Headless, o.NoHUD, o.Show, o.Watch, o.Screenshot, o.RecordDir, o.Frames = true, true, Show{}, false, "", "", 1
	if o.FixedDT == 0 {
		o.FixedDT = time.Second / 30
	}
	o.Config.Batching.Enabled = false // it changes no picture
	p := &Pops{Switches: []Pop{}}     // in JSON a list, also without any
	o.late = &late{}
	o.shoot = func(a *app) error { return p.find(a) }
	rep, err := Run(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	p.Scene, p.Device = rep.Scene, rep.Device
	p.PopP99, p.PopMax = p.figures(func(s *Pop) float64 { return s.FLIP })
	p.PopChangedP99, p.PopChangedMax = p.figures(func(s *Pop) float64 { return s.Changed })
	rep.PopFigures = p.PopFigures
	return p, rep, nil
}

// figures returns what 99 % of the switches do not exceed, and the greatest value.
func (p *Pops) figures(of func(s *Pop) float64) (p99, most float64) {
	values := make([]float64, len(p.Switches))
	for i := range p.Switches {
		values[i] = of(&p.Switches[i])
	}
	slices.Sort(values)
	if n := len(values); n > 0 {
		p99, most = values[(n*99+99)/100-1], values[n-1]
	}
	return p99, most
}

// find goes along the path.
func (p *Pops) find(a *app) error {
	p.Width, p.Height = a.surf.Size()
	o := *a.o.Path
	a.cam.following = true
	a.cam.moveTo(o.At(0), a.aspect())
	if _, err := a.comeToRest(func() { a.cam.moveTo(o.At(0), a.aspect()) }); err != nil {
		return err
	}
	end := a.o.pathEnd()
	p.Seconds = end.Seconds()
	before := slices.Clone(a.drawn)
	report := time.Duration(0)
	for t := time.Duration(0); t <= end; t += a.o.FixedDT {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.cam.moveTo(o.At(t), a.aspect())
		w := stats.Stopwatch{Last: time.Now()}
		if err := a.advance(&w); err != nil {
			return err
		}
		a.clock.now += a.o.FixedDT
		a.frame++
		p.Frames++
		if !slices.Equal(before, a.drawn) {
			if err := p.compare(a, before, t); err != nil {
				return err
			}
			before = append(before[:0], a.drawn...)
		}
		a.o.late.flush()
		if t >= report+10*time.Second {
			report = t
			a.o.Message(fmt.Sprintf("%.0f of %.0f s, %d switches", t.Seconds(), end.Seconds(), len(p.Switches)))
		}
	}
	return nil
}

// compare compares the pictures of what was drawn and of what is, from here.
func (p *Pops) compare(a *app, before []runtime.Drawn, t time.Duration) error {
	after := a.drawn
	var pictures [2]*image.NRGBA
	for i, list := range [...][]runtime.Drawn{before, after} {
		if err := a.r.Settle(a.ctx); err != nil {
			return fmt.Errorf("preview: %w", err)
		}
		a.drawn = list
		a.draw()
		pictures[i] = a.r.ReadPixels()
	}
	a.drawn = after
	changed, err := imagediff.Changed(pictures[0], pictures[1], popThreshold)
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	flip, err := imagediff.FLIP(pictures[0], pictures[1], imagediff.PixelsPerDegree)
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	s := Pop{
		T: t.Seconds(), Position: a.cam.stream.Position, Forward: a.cam.stream.Forward, FLIP: flip.Mean(), Changed: changed,
		Before: pictures[0], After: pictures[1], Map: flip,
	}
	s.Tiles = a.shown.switches(before, after)
	p.Switches = append(p.Switches, s)
	// Pictures are large: only the worst keep theirs.
	least, count := -1, 0
	for i := range p.Switches {
		if x := &p.Switches[i]; x.Before != nil {
			if count++; least < 0 || x.FLIP <= p.Switches[least].FLIP {
				least = i
			}
		}
	}
	if count > popPictures {
		x := &p.Switches[least]
		x.Before, x.After, x.Map = nil, nil, nil
	}
	return nil
}

// switches lists the tiles that show something else.
func (sh *shown) switches(before, after []runtime.Drawn) (out []TileSwitch) {
	shown := func(list []runtime.Drawn) map[int32]payload.Rep {
		m := map[int32]payload.Rep{}
		fade := map[int32]float64{}
		for _, d := range list {
			if d.Scene == sh.id && d.Fade >= fade[d.Tile] { // of two that fade, the one to be
				m[d.Tile], fade[d.Tile] = d.Rep, d.Fade
			}
		}
		return m
	}
	from, to := shown(before), shown(after)
	var tiles []int32
	for tile, rep := range from {
		if to[tile] != rep {
			tiles = append(tiles, tile)
		}
	}
	for tile := range to {
		if _, ok := from[tile]; !ok {
			tiles = append(tiles, tile)
		}
	}
	slices.Sort(tiles)
	for _, tile := range tiles {
		info, _ := sh.s.TileInfo(sh.id, tile)
		out = append(out, TileSwitch{info.ID, from[tile].String(), to[tile].String()})
	}
	return out
}

// sheet returns the worst switches for people, the worst first.
func (p *Pops) sheet() *sheet {
	s := &sheet{
		Title: fmt.Sprintf("%s: what is seen of switches", p.Scene),
		Summary: fmt.Sprintf("%d frames with switches of %d in %.1f s; FLIP at most %.4f, p99 %.4f; pixels that change by more than %d of 255 at most %.3f %%",
			len(p.Switches), p.Frames, p.Seconds, p.PopMax, p.PopP99, popThreshold, 100*p.PopChangedMax),
		Note:    fmt.Sprintf("%d x %d pixels, %s. The picture before shows the one after under the pointer.", p.Width, p.Height, p.Device),
		Columns: [3]string{"before", "after", "FLIP"},
		Width:   p.Width, Height: p.Height,
		Head: []string{"at", "FLIP", "pixels", "tiles"},
	}
	worst := make([]*Pop, 0, popPictures)
	for i := range p.Switches {
		if p.Switches[i].Before != nil {
			worst = append(worst, &p.Switches[i])
		}
	}
	slices.SortStableFunc(worst, func(a, b *Pop) int { return cmp.Compare(b.FLIP, a.FLIP) })
	for _, x := range worst {
		share := fmt.Sprintf("%.3f %%", 100*x.Changed)
		list := ""
		for i, t := range x.Tiles {
			if i == 4 {
				list += fmt.Sprintf(" and %d more", len(x.Tiles)-i)
				break
			}
			list += fmt.Sprintf(" %s: %s to %s", t.Tile, t.From, t.To)
		}
		s.Rows = append(s.Rows, sheetRow{
			Name: fmt.Sprintf("%.3f s", x.T), Title: fmt.Sprintf("at %.3f s: FLIP %.4f, %s of the pixels", x.T, x.FLIP, share), Subtitle: list,
			Cells:    []string{fmt.Sprintf("%.3f s", x.T), fmt.Sprintf("%.4f", x.FLIP), share, list},
			Pictures: [3]image.Image{x.Before, x.After, x.Map.Image()},
		})
	}
	return s
}

// late puts off what takes geometry and textures away, so that what has just been
// replaced can still be drawn.
type late struct {
	renderer
	released []payload.Key
	hidden   []texture.ID
}

func (l *late) Upload(key payload.Key, asset *payload.Asset) error {
	if i := slices.Index(l.released, key); i >= 0 {
		l.released = slices.Delete(l.released, i, i+1)
		l.renderer.Release(key)
	}
	return l.renderer.Upload(key, asset)
}

func (l *late) Release(key payload.Key) { l.released = append(l.released, key) }

func (l *late) Show(id texture.ID, slot texture.Slot, edge int) {
	if i := slices.Index(l.hidden, id); i >= 0 {
		l.hidden = slices.Delete(l.hidden, i, i+1)
	}
	l.renderer.Show(id, slot, edge)
}

func (l *late) Hide(id texture.ID) { l.hidden = append(l.hidden, id) }

// flush does what was put off.
func (l *late) flush() {
	for _, key := range l.released {
		l.renderer.Release(key)
	}
	for _, id := range l.hidden {
		l.renderer.Hide(id)
	}
	l.released, l.hidden = l.released[:0], l.hidden[:0]
}
