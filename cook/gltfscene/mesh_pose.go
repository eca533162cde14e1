package gltfscene

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/geom"
)

// bendable are the attributes that poses change, the first of classes.
const bendable = 3

// posed are the accessors of a primitive that its pose has changed; nil ones stay.
type posed [bendable]*accessor

// posedKey names what is posed once: primitives may share their vertices.
type posedKey struct {
	pose    *pose
	packed  *dracoStream
	sources string
}

// madeFile holds what was posed or cut, one after the other, where memory is short.
type madeFile struct {
	inFile
	file *os.File
	size int
}

// poseWork is how many times the limit of the decoded geometry poses may read: each morph
// target and each set of joints takes its time, but no memory of its own.
const poseWork = 64

// posePrimitive moves the vertices of a primitive as its mesh is posed. What is faulty in
// that is noted, and left out.
func (mp *meshPlanner) posePrimitive(pl *draft, p *gltf.Primitive, packed *compressedMesh, how *pose) error {
	if len(p.Targets) > 0 {
		mp.checkTargets(pl.place, p)
		if !how.morphs(len(p.Targets)) {
			mp.notes.info("morph-targets-skipped", pl.place, "morph targets have no weight: the base shape is what is seen")
		}
	}
	if how.still() {
		return nil
	}
	b := bender{mp: mp, place: pl.place, packed: packed, pose: how}
	for i, a := range classes[:bendable] {
		index, ok := p.Attributes[a.name]
		if !ok {
			continue
		}
		acc, err := mp.source(index, a.name, packed)
		if err != nil || !allows(acc, a.class) || i > 0 && acc.count != b.base[0].count {
			return nil // reported when the attribute is planned
		}
		b.base[i] = acc
	}
	b.findTargets(p)
	key := posedKey{pose: how, sources: fmt.Sprint(p.Attributes, b.sources)}
	if packed != nil {
		key.packed = packed.stream
	}
	if done, ok := mp.posed[key]; ok {
		pl.posed = done
		return nil
	}
	b.findJoints(p)
	if len(b.targets) == 0 && len(b.sets) == 0 {
		return nil
	}
	if err := b.fits(); err != nil {
		return err
	}
	done, err := b.bend()
	if err != nil {
		return err
	}
	mp.posed[key], pl.posed = done, done
	return nil
}

// bender poses one primitive.
type bender struct {
	mp      *meshPlanner
	place   string
	packed  *compressedMesh
	pose    *pose
	base    posed // as stored; POSITION always
	targets []target
	sets    []jointSet
	sources []int // accessors of targets
}

// target is a morph target with its weight.
type target struct {
	place  string // what the names of attributes follow
	weight float64
	of     posed
}

// jointSet is a set of up to four joints and weights a vertex.
type jointSet struct {
	place           string
	joints, weights *accessor
}

// findTargets lists the targets that have a weight.
func (b *bender) findTargets(p *gltf.Primitive) {
	for i, attributes := range p.Targets {
		if i >= len(b.pose.weights) || b.pose.weights[i] == 0 {
			continue
		}
		t := target{place: fmt.Sprintf("%s.targets[%d].", b.place, i), weight: b.pose.weights[i]}
		for k, c := range classes[:bendable] {
			index, ok := attributes[c.name]
			if !ok || b.base[k] == nil {
				continue
			}
			a, err := b.mp.data.accessor(index)
			switch {
			case err != nil || a.count != b.base[0].count:
				continue // checkTargets has said so
			case a.typ != gltf.AccessorVec3 || a.ct == u32:
				err = malformed(t.place+c.name, "is %s, must be VEC3 of FLOAT (or, quantized, of BYTE or SHORT)", a.format())
			}
			if err != nil {
				b.mp.notes.fault("morph-target-faulty", morphFaulty, err)
				continue
			}
			t.of[k] = a
			b.sources = append(b.sources, i, k, index)
		}
		if t.of != (posed{}) {
			b.targets = append(b.targets, t)
		}
	}
	if len(b.targets) > 0 {
		b.mp.notes.info("morph-targets-posed", b.place, "morph targets are applied by the weights that the file gives")
	}
}

const morphFaulty = "a morph target is faulty and was left out"

// findJoints lists the sets of joints; none where something is wrong with them.
func (b *bender) findJoints(p *gltf.Primitive) {
	if b.pose.frames == nil {
		return
	}
	var err error
	if b.sets, err = b.jointSets(p); err == nil {
		err = b.checkJoints()
	}
	if err != nil {
		b.sets = nil
		b.mp.notes.fault("skin-faulty", skinFaulty, err)
	}
}

func (b *bender) jointSets(p *gltf.Primitive) (sets []jointSet, err error) {
	for n := 0; ; n++ {
		s := jointSet{place: b.place + ".attributes."}
		for _, part := range []struct {
			name string
			to   **accessor
		}{{"JOINTS_", &s.joints}, {"WEIGHTS_", &s.weights}} {
			name := fmt.Sprint(part.name, n)
			index, ok := p.Attributes[name]
			if !ok {
				if n == 0 {
					return nil, malformed(b.place+".attributes", "lacks %s, which its node's skin needs", name)
				}
				return sets, nil
			}
			place := fmt.Sprintf("%s%s (accessor %d)", s.place, name, index)
			if err := b.mp.doc.accessors.check(index); err != nil {
				return nil, at(place, err)
			}
			a, err := b.mp.source(index, name, b.packed)
			if err != nil {
				return nil, at(place, err)
			}
			small := a.ct == u8 || a.ct == u16
			switch {
			case part.to == &s.joints && (a.typ != gltf.AccessorVec4 || a.normalized || !small && (a.ct != f32 || b.packed == nil)):
				return nil, malformed(place, "is %s, must be VEC4 of UNSIGNED_BYTE or UNSIGNED_SHORT", a.format())
			case part.to == &s.weights && (a.typ != gltf.AccessorVec4 || !small && a.ct != f32):
				return nil, malformed(place, "is %s, must be VEC4 of FLOAT or normalized UNSIGNED_BYTE or UNSIGNED_SHORT", a.format())
			case a.count != b.base[0].count:
				return nil, malformed(place, "has %d elements, POSITION has %d", a.count, b.base[0].count)
			}
			*part.to = a
		}
		s.place += fmt.Sprint("JOINTS_", n)
		sets = append(sets, s)
	}
}

// checkJoints looks for vertices that follow joints which the skin lacks.
func (b *bender) checkJoints() error {
	if b.fits() != nil {
		return nil // said when the vertices are moved
	}
	for _, s := range b.sets {
		joints, weights, err := s.decode()
		if err != nil {
			return err
		}
		for i := range joints {
			for k, w := range weights[i] {
				if joint := joints[i][k]; w != 0 && b.jointOf(joint) < 0 {
					return malformed(s.place, "element %d names joint %v, the skin has %d", i, joint, len(b.pose.frames))
				}
			}
		}
	}
	return nil
}

// jointOf returns the joint that a vertex names, -1 where there is none.
func (b *bender) jointOf(v float32) int {
	if !(v >= 0 && float64(v) < float64(len(b.pose.frames))) {
		return -1
	}
	return int(v)
}

func (s *jointSet) decode() (joints, weights [][4]float32, err error) {
	if joints, err = decodeAll[[4]float32](s.place, s.joints); err == nil {
		weights, err = decodeAll[[4]float32](s.place+" with its WEIGHTS", s.weights)
	}
	return joints, weights, err
}

// fits applies the limits of the decoded geometry to what posing takes.
func (b *bender) fits() error {
	dr, count := b.mp.data, int64(b.base[0].count)
	const each = 12 + 12 + 16 + 8*bonesPerVertex // of a vertex, with what moves it
	limit := dr.decodedLimit()
	if count > limit/each || dr.decoded > limit-count*each {
		return tooLarge(b.place, limit)
	}
	n := int64(3*len(b.targets) + 4*len(b.sets) + 1)
	if count > 0 && (n > math.MaxInt64/12/count || n*count*12 > limit*poseWork-b.mp.poseWork) {
		return tooLarge(b.place, limit)
	}
	b.mp.poseWork += n * count * 12
	// An attribute as it is read, added up, and written, what is added, and bones.
	at := int64(16 + 24 + 16 + 12)
	if len(b.sets) > 0 {
		at += 8 * bonesPerVertex
	}
	return b.mp.fitsMesh(b.place, "posed", count*at)
}

// bonesPerVertex is how many numbers say how a vertex moves with its joints: the upper
// three rows of a matrix, and the sum of the weights.
const bonesPerVertex = 13

// bend makes the accessors of the moved vertices.
func (b *bender) bend() (out posed, err error) {
	bones, err := b.bones()
	if err != nil {
		return out, err
	}
	for k, a := range b.base {
		if a == nil {
			continue
		}
		list, _, err := decodeVec[[4]float32](a, 0, a.count, 0)
		if err != nil || list == nil {
			return posed{}, nil // reported when the attribute is decoded
		}
		moved := *a
		if moved.at, err = b.mp.keepMade(b.attribute(k, list, bones)); err != nil {
			return posed{}, at(b.place+classes[k].property, err)
		}
		moved.ct, moved.normalized, moved.sparse, moved.comps = f32, false, nil, 3
		if k == int(classTangent) {
			moved.comps = 4
		}
		moved.stride = 4 * moved.comps
		out[k] = &moved
	}
	return out, nil
}

// bone is how a vertex moves with its joints.
type bone struct {
	m   [12]float64 // columns
	sum float64
}

// bones mixes the frames of each vertex; nil without a skin.
func (b *bender) bones() ([]bone, error) {
	if len(b.sets) == 0 {
		return nil, nil
	}
	out, frames := make([]bone, b.base[0].count), b.pose.frames
	follow := func(o *bone, joint int, w float64) {
		f := &frames[joint]
		for c := range 4 {
			for r := range 3 {
				o.m[3*c+r] += float64(w * f[4*c+r])
			}
		}
		o.sum += w
	}
	first := make([]float32, len(out))
	for n := range b.sets {
		joints, weights, err := b.sets[n].decode()
		if err != nil {
			return nil, err
		}
		for i := range out {
			if n == 0 {
				first[i] = joints[i][0]
			}
			for k, w := range weights[i] {
				if w != 0 {
					follow(&out[i], b.jointOf(joints[i][k]), float64(w)) // see checkJoints
				}
			}
		}
	}
	for i := range out {
		if o := &out[i]; !(o.sum > 0) {
			*o = bone{}
			follow(o, max(b.jointOf(first[i]), 0), 1)
		}
	}
	return out, nil
}

// matrix is what the bone does.
func (o *bone) matrix() geom.Mat4 {
	k := 1 / o.sum
	m := geom.Identity()
	for c := range 4 {
		for r := range 3 {
			m[4*c+r] = o.m[3*c+r] * k
		}
	}
	return m
}

// mirrors reports whether the bone turns what is left to what is right.
func (o *bone) mirrors() bool {
	m := o.matrix()
	return m.Det3() < 0
}

// attribute returns the elements of attribute k, moved, as bytes of floats. What is not
// finite stays so. A bone that mirrors turns the handedness of a tangent, so that the
// bitangent moves with the vertex. It does not turn the triangles, whose vertices may follow
// different bones: what decides in viewers (three.js, Khronos' sample viewer) which side is
// the front is the node that shows the mesh, and its transform is applied later.
func (b *bender) attribute(k int, list [][4]float32, bones []bone) []byte {
	sums := make([]geom.Vec3, len(list))
	for i, v := range list {
		sums[i] = geom.FromF32([3]float32(v[:3]))
	}
	for _, t := range b.targets {
		if t.of[k] == nil {
			continue
		}
		deltas, err := decodeAll[[3]float32](t.place+classes[k].name, t.of[k])
		if err != nil {
			b.mp.notes.fault("morph-target-faulty", morphFaulty, err)
			continue
		}
		for i, d := range deltas {
			sums[i] = sums[i].Add(geom.FromF32(d).Scale(t.weight))
		}
	}
	comps := 3
	if class(k) == classTangent {
		comps = 4
	}
	out := make([]byte, 0, 4*comps*len(list))
	for i, v := range sums {
		if v.IsFinite() {
			v = b.move(class(k), v, bones, i)
		}
		moved := v.F32()
		for c := range 3 {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(moved[c]))
		}
		if comps == 4 {
			w := list[i][3]
			if bones != nil && bones[i].mirrors() {
				w = -w
			}
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(w))
		}
	}
	return out
}

// move moves a position or turns a direction, which gets length 1.
func (b *bender) move(c class, v geom.Vec3, bones []bone, i int) geom.Vec3 {
	if bones != nil {
		m := bones[i].matrix()
		switch c {
		case classPosition:
			v = m.Point(v)
		case classTangent:
			v = m.Dir(v)
		default:
			normals := m.Cofactor()
			if v = normals.Dir(v); m.Det3() < 0 {
				v = v.Scale(-1)
			}
		}
	}
	if c != classPosition {
		v = v.Normalize(0, geom.Vec3{})
	}
	return v
}

// keepMade keeps bytes for as long as the scene is open: in memory if all geometry is.
func (mp *meshPlanner) keepMade(data []byte) (extent, error) {
	if mp.data.cache.keepsAll() {
		return memoryExtent(data), nil
	}
	f := mp.made
	if f == nil {
		file, err := spill(nil)
		if err != nil {
			return extent{}, openError("(temporary)", err)
		}
		mp.data.spills = append(mp.data.spills, file)
		f = &madeFile{inFile: inFile{file, "(temporary)"}, file: file}
		mp.made = f
	}
	if _, err := f.file.WriteAt(data, int64(f.size)); err != nil {
		return extent{}, openError("(temporary)", err)
	}
	at := f.size
	f.size += len(data)
	return extent{f, at, len(data)}, nil
}
