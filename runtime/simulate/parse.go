package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// The defaults of a scenario file.
const (
	defaultDT      = 100 * time.Millisecond
	defaultLatency = 250 * time.Millisecond
	minDT          = 100 * time.Microsecond
	maxFrames      = 10_000_000
)

// Parse reads a scenario file: JSON with // comments. Every unknown key and
// every value of a wrong type or range is an error, a *SyntaxError with its
// place and a suggestion. Parse reads no other file; see Scenario.Manifest.
func Parse(data []byte) (*Scenario, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	d := &decoder{data: data}
	s := &Scenario{
		DT:      defaultDT,
		Config:  config.Default(),
		Path:    defaultLens(),
		Latency: Latency{Default: defaultLatency},
	}
	s.Config.FitQueryRadius = false // a scenario means what it says
	s.read(d, root)
	if d.err == nil {
		s.finish(d, root)
	}
	if d.err != nil {
		return nil, d.err
	}
	return s, nil
}

// ParseCameraPath reads a camera path file: an object with the keys camera,
// fov_y_degrees, aspect, near and far of a scenario. Errors are those of Parse.
func ParseCameraPath(data []byte) (*CameraPath, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	d := &decoder{data: data}
	p := defaultLens()
	f := p.fields(d)
	f["name"], f["note"] = d.text(new(string)), d.text(new(string))
	d.object(root, f, "camera")
	if d.err == nil && len(p.Keys) == 0 {
		d.fail(root.member("camera"), "the path has no keys", "")
	}
	p.check(d, root)
	if d.err != nil {
		return nil, d.err
	}
	return &p, nil
}

// defaultLens is the lens of scenarios that name none.
func defaultLens() CameraPath {
	return CameraPath{FovYDegrees: 60, Aspect: 1.7778, Near: 0.1, Far: 1000}
}

func (s *Scenario) read(d *decoder, root *node) {
	f := s.Path.fields(d)
	f["name"] = d.text(&s.Name)
	f["note"] = d.text(&s.Note)
	f["id"] = d.text(new(string))
	f["scene"] = func(n *node) { s.scene(d, n) }
	f["manifest"] = d.text(&s.ManifestPath)
	f["config"] = func(n *node) { s.config(d, n, "") }
	f["dt"] = d.seconds(&s.DT)
	f["duration"] = d.seconds(&s.Duration)
	f["latency"] = func(n *node) { s.Latency.read(d, n) }
	f["download"] = func(n *node) { s.Download.read(d, n) }
	f["faults"] = func(n *node) { d.array(n, func(n *node) { s.fault(d, n) }) }
	f["memory"] = func(n *node) { d.array(n, func(n *node) { s.memory(d, n) }) }
	f["pressure"] = func(n *node) { d.array(n, func(n *node) { s.pressure(d, n) }) }
	f["actions"] = func(n *node) { d.array(n, func(n *node) { s.action(d, n) }) }
	f["visible"] = func(n *node) {
		s.Visible = new(time.Duration)
		d.object(n, fields{"from": d.seconds(s.Visible)}, "from")
	}
	f["mode"] = func(n *node) {
		var mode string
		if d.oneOf(&mode, "covered", "strict")(n); d.err == nil {
			s.set(d, int(n.start), n, "handoff", mode)
		}
	}
	f["transform"] = d.transform(&s.Transform)
	f["world"] = d.text(&s.WorldPath)
	f["entities"], f["regions"] = func(*node) {}, func(*node) {}
	f["exact"] = d.boolean(&s.Exact)
	f["expect"] = func(n *node) { d.array(n, func(n *node) { s.Expect = append(s.Expect, readExpectation(d, n, true)) }) }
	f["expect_none"] = func(n *node) {
		d.array(n, func(n *node) { s.ExpectNone = append(s.ExpectNone, readExpectation(d, n, false)) })
	}
	f["expect_stats"] = func(n *node) { d.array(n, func(n *node) { s.stat(d, n) }) }
	d.object(root, f)
	if d.err == nil {
		s.beside(d, root)
	}
}

// finish checks what concerns several keys, and fills what depends on others.
func (s *Scenario) finish(d *decoder, root *node) {
	switch {
	case s.Manifest == nil && s.ManifestPath == "":
		d.fail(root, `the key "scene" is missing`, `or name a cooked scene with "manifest"`)
	case s.Manifest != nil && s.ManifestPath != "":
		d.fail(root.member("manifest"), `"scene" and "manifest" exclude each other`, "")
	case s.WorldPath != "" && (s.Transform != nil || len(s.Entities)+len(s.Regions) > 0):
		d.fail(root.member("world"), `"world" names a file instead of the keys "transform", "entities" and "regions"`, "leave one of them out")
	case s.DT < minDT:
		d.fail(root.member("dt"), "dt is too short", fmt.Sprintf("at least %g", minDT.Seconds()))
	}
	if err := s.Config.Validate(); err != nil {
		at := root.member("config")
		if at == nil {
			at = root
		}
		d.fail(at, strings.TrimPrefix(err.Error(), "runtime: "), "")
	}
	s.Path.check(d, root)
	if root.member("duration") == nil && len(s.Path.Keys) > 0 {
		s.Duration = s.Path.Keys[len(s.Path.Keys)-1].T
	}
	if d.err == nil && s.Duration/s.DT >= maxFrames {
		d.fail(root, fmt.Sprintf("duration / dt makes more than %d frames", maxFrames), "")
	}
	if s.Manifest != nil && d.err == nil {
		s.checkNames(d, root)
	}
	slices.SortStableFunc(s.Memory, func(a, b MemoryKey) int { return cmp.Compare(a.T, b.T) })
	slices.SortStableFunc(s.Pressure, func(a, b PressureKey) int { return cmp.Compare(a.T, b.T) })
	slices.SortStableFunc(s.Actions, func(a, b Action) int { return cmp.Compare(a.T, b.T) })
}

// checkNames refuses tile ids that the scene lacks.
func (s *Scenario) checkNames(d *decoder, root *node) {
	known := make(map[string]bool, len(s.Manifest.Tiles)+1)
	for i := range s.Manifest.Tiles {
		known[s.Manifest.Tiles[i].ID] = true
	}
	if s.Manifest.SharedBucket != nil {
		known[s.Manifest.SharedBucket.ID] = true
	}
	for _, t := range s.tilesBeside() {
		known[t.ID] = true
	}
	check := func(at *node, id string) {
		region, _, _ := strings.Cut(id, "/")
		later := s.WorldPath != "" || slices.ContainsFunc(s.Regions, func(r runtime.Region) bool { return r.ID == region && !s.inline[region] })
		if !known[id] && !later && d.err == nil { // else the name is in a file that is read later
			d.fail(at, fmt.Sprintf("the scene has no tile %q", clip(id)), nearest(id, known))
		}
	}
	for _, key := range [...]string{"faults", "expect", "expect_none"} {
		if list := root.member(key); list != nil {
			for i := range list.items {
				if id := list.items[i].member("tile"); id != nil {
					check(id, id.text)
				}
				if name := list.items[i].member("texture"); name != nil {
					s.checkTexture(d, name)
				}
			}
		}
	}
	for _, key := range [...]string{"latency", "download"} {
		for _, sub := range [...]string{"tiles", "attempts"} {
			if l := root.member(key); l != nil && l.member(sub) != nil {
				for i, k := range l.member(sub).names {
					id := k.text
					if cut := strings.LastIndexByte(id, '/'); !known[id] && cut > 0 && isRep(id[cut+1:]) {
						id = id[:cut]
					}
					check(&l.member(sub).items[i], id)
				}
			}
		}
	}
}

// isRep reports whether s names a representation of a tile.
func isRep(s string) bool {
	level, ok := strings.CutPrefix(s, "lod")
	if !ok {
		return s == "full" || s == "hlod"
	}
	n, err := strconv.ParseUint(level, 10, 8)
	return err == nil && strconv.FormatUint(n, 10) == level
}

func (d *decoder) rep(dst *string) func(*node) {
	return func(n *node) {
		if d.is(n, '"', "a text") && !isRep(n.text) {
			d.fail(n, fmt.Sprintf("%q is no representation", clip(n.text)), "use full, hlod, lod0, lod1, ...")
			return
		}
		*dst = n.text
	}
}

// config reads parameters. Nested objects are the same as dotted names:
// {"lod": {"bias": 1}} is {"lod.bias": 1}.
func (s *Scenario) config(d *decoder, n *node, prefix string) {
	if !d.is(n, '{', "an object") {
		return
	}
	for i, k := range n.names {
		key, v := prefix+k.text, &n.items[i]
		d.within(k.text, func() {
			switch v.kind {
			case '{':
				s.config(d, v, key+".")
			case 't', 'f':
				s.set(d, int(k.pos), v, key, v.kind == 't')
			case '0':
				s.set(d, int(k.pos), v, key, d.number(v, -math.MaxFloat64, math.MaxFloat64))
			case '"':
				s.set(d, int(k.pos), v, key, v.text)
			case '[':
				list := []float64{}
				d.array(v, func(n *node) { list = append(list, d.number(n, -math.MaxFloat64, math.MaxFloat64)) })
				s.set(d, int(k.pos), v, key, list)
			default:
				d.fail(v, "null is no value of a parameter", "leave the key out for the default")
			}
		})
	}
}

// set assigns a parameter; name, note and id are free text.
func (s *Scenario) set(d *decoder, at int, n *node, key string, value any) {
	if _, text := value.(string); text && (key == "name" || key == "note" || key == "id") {
		return
	}
	err := s.Config.Set(key, value)
	if e := new(config.Error); errors.As(err, &e) {
		hint := ""
		if e.Suggest != "" {
			hint = fmt.Sprintf("did you mean %q?", e.Suggest)
			d.failAt(at, e.Problem, hint)
		}
		d.fail(n, e.Problem, hint)
	} else if err != nil {
		d.fail(n, err.Error(), "")
	}
}

func (l *Latency) read(d *decoder, n *node) {
	l.Reps = map[string]time.Duration{}
	rep := func(name string) func(*node) {
		return func(n *node) { l.Reps[name] = duration(d.number(n, 0, maxSeconds)) }
	}
	d.object(n, fields{
		"default": d.seconds(&l.Default),
		"full":    rep("full"),
		"lod":     rep("lod"),
		"hlod":    rep("hlod"),
		"mesh":    rep("mesh"),
		"texture": rep("texture"),
		"tiles": func(n *node) {
			l.Tiles = map[string]time.Duration{}
			d.each(n, func(key string, n *node) { l.Tiles[key] = duration(d.number(n, 0, maxSeconds)) })
		},
		"attempts": func(n *node) {
			l.Attempts = map[string][]time.Duration{}
			d.each(n, func(key string, n *node) {
				d.array(n, func(n *node) {
					l.Attempts[key] = append(l.Attempts[key], duration(d.number(n, 0, maxSeconds)))
				})
			})
		},
	})
}

// each reads an object whose keys are names out of the scene.
func (d *decoder) each(n *node, read func(key string, n *node)) {
	if !d.is(n, '{', "an object") {
		return
	}
	for i, k := range n.names {
		d.within(k.text, func() { read(k.text, &n.items[i]) })
	}
}

func (s *Scenario) fault(d *decoder, n *node) {
	f := Fault{Rep: "full"}
	kind := ""
	d.object(n, fields{
		"tile":    d.text(&f.Tile),
		"rep":     d.rep(&f.Rep),
		"mesh":    d.text(&f.Mesh),
		"texture": d.text(&f.Texture),
		"kind":    d.oneOf(&kind, "fail", "hang"),
		"times":   func(n *node) { f.Times = d.integer(n, 1, 1<<31) },
	}, "kind")
	f.Hang = kind == "hang"
	switch {
	case d.err != nil:
	case f.Texture != "" && (f.Tile != "" || f.Mesh != "" || f.Hang):
		d.fail(n, "a texture's loads can only fail", `give "texture", "kind": "fail" and "times" alone`)
	case f.Texture != "":
		f.Rep = ""
	case f.Tile == "":
		d.fail(n, `the key "tile" is missing`, `or "texture"`)
	}
	s.Faults = append(s.Faults, f)
}

func (s *Scenario) memory(d *decoder, n *node) {
	var k MemoryKey
	bytes := func(dst **int64) func(*node) {
		return func(n *node) { *dst = new(int64); d.count(*dst)(n) }
	}
	d.object(n, fields{
		"t":               d.seconds(&k.T),
		"geometry_budget": bytes(&k.GeometryBudget),
		"texture_budget":  bytes(&k.TextureBudget),
		"geometry_used":   bytes(&k.GeometryUsed),
		"texture_used":    bytes(&k.TextureUsed),
	}, "t")
	s.Memory = append(s.Memory, k)
}

func (s *Scenario) pressure(d *decoder, n *node) {
	var k PressureKey
	level := ""
	d.object(n, fields{"t": d.seconds(&k.T), "level": d.oneOf(&level, "warning", "critical")}, "t", "level")
	k.Critical = level == "critical"
	s.Pressure = append(s.Pressure, k)
}

func (s *Scenario) action(d *decoder, n *node) {
	var a Action
	d.object(n, fields{"t": d.seconds(&a.T), "do": d.oneOf(&a.Do, ForceUnloadAll, ReloadScene, SetTransform), "transform": d.transform(&a.Transform)}, "t", "do")
	if d.err == nil && (a.Do == SetTransform) != (a.Transform != nil) {
		d.fail(n, `"transform" belongs to "setTransform"`, "")
	}
	s.Actions = append(s.Actions, a)
}

func (s *Scenario) stat(d *decoder, n *node) {
	var e StatExpectation
	e.line = d.lineOf(n)
	d.object(n, fields{
		"t":       d.seconds(&e.T),
		"counter": d.text(&e.Counter),
		"value":   d.float(&e.Value, -math.MaxFloat64, math.MaxFloat64),
		"note":    d.text(new(string)),
	}, "t", "counter", "value")
	_, texture := textureCounters[e.Counter]
	if _, ok := new(runtime.Stats).Counter(e.Counter); !ok && !texture && d.err == nil {
		known := map[string]bool{}
		for name := range textureCounters {
			known[name] = true
		}
		for _, name := range runtime.CounterNames() {
			known[name] = true
		}
		d.fail(n.member("counter"), fmt.Sprintf("there is no counter %q", clip(e.Counter)), nearest(e.Counter, known))
	}
	s.ExpectStats = append(s.ExpectStats, e)
}

// fields returns the keys of a camera path file.
func (p *CameraPath) fields(d *decoder) fields {
	return fields{
		"camera":        func(n *node) { d.array(n, func(n *node) { p.key(d, n) }) },
		"fov_y_degrees": d.float(&p.FovYDegrees, 1, 179),
		"aspect":        d.float(&p.Aspect, 0.01, 100),
		"near":          d.float(&p.Near, 1e-6, 1e6),
		"far":           d.float(&p.Far, 1e-6, 1e9),
	}
}

func (p *CameraPath) key(d *decoder, n *node) {
	var k CameraKey
	k.Forward = geom.Vec3{0, 0, -1}
	if len(p.Keys) > 0 {
		k.Position, k.Forward = p.Keys[len(p.Keys)-1].Position, p.Keys[len(p.Keys)-1].Forward
	}
	mode := "jump"
	d.object(n, fields{
		"t":        d.seconds(&k.T),
		"position": d.vec3(&k.Position),
		"forward":  d.vec3(&k.Forward),
		"mode":     d.oneOf(&mode, "jump", "linear"),
	}, "t")
	k.Linear = mode == "linear"
	switch {
	case d.err != nil:
	case k.Forward.Len() < 1e-6:
		d.fail(n, "forward has no direction", "")
	case len(p.Keys) > 0 && k.T <= p.Keys[len(p.Keys)-1].T:
		d.fail(n, "this key is not after the one before", "sort the keys by t")
	}
	p.Keys = append(p.Keys, k)
}

func (p *CameraPath) check(d *decoder, root *node) {
	if d.err == nil && p.Far <= p.Near {
		d.fail(root, fmt.Sprintf("far (%g) is not beyond near (%g)", p.Far, p.Near), "")
	}
}
