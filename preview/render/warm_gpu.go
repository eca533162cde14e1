package render

import (
	"math"
	"time"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// warm draws frames that show nothing with every program.
// Drivers compile a program for the state it is drawn with when they first meet
// the two together, which takes up to a tenth of a second: too long for the
// frame in which the first leaf comes into view.
func (r *Renderer) warm() error {
	start := time.Now()
	f := Frame{
		Camera:  runtime.Camera{Forward: [3]float64{0, 0, -1}},
		Lines:   make([]Line, 1),
		Overlay: &Overlay{Vertices: make([]OverlayVertex, 3), Indices: []uint32{0, 1, 2}},
	}
	for _, l := range [...]compact.Layout{compact.Plain, compact.Full, compact.Mapped, compact.Colored} {
		if err := r.warmReps(&f, l); err != nil {
			return err
		}
	}
	for range inFlight { // and their buffers
		r.exactShadows()
		r.Draw(f)
	}
	for _, v := range [...]ViewMode{ViewLOD, ViewWireframe} { // whose programs the other views share
		f.View, f.Wireframe = v, v == ViewLOD
		r.Draw(f)
	}
	for _, d := range f.Drawn {
		r.Release(d.Key)
	}
	r.shadows.schedule = schedule{count: r.shadows.count, begun: r.shadows.begun} // what was drawn knows its builds
	r.device.Finish()
	r.options.Logger.Debug("programs compiled", "time", time.Since(start))
	return nil
}

// warmReps adds what shows nothing to a frame, with vertices of a layout: all kinds of
// surfaces, whole and fading.
func (r *Renderer) warmReps(f *Frame, l compact.Layout) error {
	const dot = 3 * vertex.Size
	at, err := r.pool.allocate(l, 3*l.Size(), indexUnit)
	if err != nil {
		return err
	}
	var zeros [dot]byte
	r.device.WriteBuffer(at.page.vertex, at.vertices.at*l.Size(), zeros[:3*l.Size()])
	r.device.WriteBuffer(at.page.index, at.indices.at*indexUnit, zeros[:indexUnit])
	material := r.materials.write(make([]float32, materialFloats))

	set := &textureSet{} // of textures that are not there
	n := &rep{
		resident: true, box: geom.Box{Min: geom.Vec3{-1, -1, -6}, Max: geom.Vec3{1, 1, -4}}, bundles: []bundle{{packing: compact.Packing{Layout: l}, at: at}}, materials: material,
	}
	for i, m := range [...]mesh{
		{},
		{set: set},
		{set: set, kind: surfaceKind{alpha: alphaMask}},
		{set: set, kind: surfaceKind{alpha: alphaBlend}},
	} {
		m.center, m.half = [3]float64{0, 0, -5}, [3]float64{1, 1, 1}
		m.material, m.indexCount = int32(material.at), 3
		m.firstIndex, m.baseVertex = uint32(at.indices.at*indexUnit/2), int32(at.vertices.at)
		if m.wide = r.absolute; m.wide { // all indices are the page's first vertex
			m.firstIndex, m.baseVertex = uint32(at.indices.at*indexUnit/4), 0
		}
		m.kind.doubleSided = i%2 == 1
		n.meshes = append(n.meshes, m)
	}
	fading := &rep{resident: true, box: n.box, meshes: n.meshes, bundles: []bundle{{packing: n.bundles[0].packing, at: place{page: at.page}}}}
	for i, n := range [...]*rep{n, fading} {
		r.serial++
		n.serial = r.serial
		n.key = payload.Key{Scene: math.MaxInt32, Tile: int32(len(f.Drawn))}
		r.reps[n.key] = n
		f.Drawn = append(f.Drawn, runtime.Drawn{Key: n.key, Fade: 1 - 0.5*float64(i)})
	}
	return nil
}
