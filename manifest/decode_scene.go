package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// plain reads a value of a key that the engine ignores by way of encoding/json,
// which needs no code for each of them. It must be called through loose.
func plain[T any](s *scanner) (v T) {
	s.space()
	start := s.pos
	s.skip() // checks the syntax and the range of numbers
	if s.failed() {
		return v
	}
	if err := json.Unmarshal(bytes.TrimSpace(s.data[start:s.pos]), &v); err != nil {
		message := "a value in it has a wrong type"
		if e := new(json.UnmarshalTypeError); errors.As(err, &e) {
			message = fmt.Sprintf("%s is not what belongs at %q", e.Value, e.Field)
		}
		s.note(codeIgnoredValue, int64(start), message)
	}
	return v
}

// members reads an object whose keys f handles; f returns false for a key that
// it does not know.
func (s *scanner) members(f func(key string) bool) {
	if !s.object("an object", "") {
		return
	}
	for first := true; s.key(&first); {
		if !f(string(s.name)) {
			s.skip()
		}
	}
}

// vector reads numbers into dst, all of them or none.
func (s *scanner) vector(dst []float64) {
	if s.null() {
		return
	}
	var v [4]float64
	if n := s.floats(v[:len(dst)]); n < len(dst) {
		s.noteShort("the vector", n)
		return
	}
	copy(dst, v[:])
}

// offset reads three numbers, or nil where there are fewer.
func (s *scanner) offset() *[3]float64 {
	if s.null() {
		return nil
	}
	var v [3]float64
	if n := s.floats(v[:]); n < len(v) {
		s.noteShort("the offset", n)
		return nil
	}
	return &v
}

// matrix reads four rows of four numbers; ok is false when there are fewer.
func (s *scanner) matrix() (m [4][4]float64, ok bool) {
	rows := 0
	if s.array("an array of four rows", "") {
		for i := -1; s.elem(&i); {
			var row [4]float64
			n := s.floats(row[:])
			if i < 4 && n >= 4 {
				m[i] = row
				rows++
			}
		}
	}
	return m, rows == 4
}

// numberOr reads a number that may be null or absent.
func (s *scanner) numberOr(dst *float64) {
	if !s.null() {
		*dst = s.float()
	}
}

// lightKeys holds the keys that decide about a light's kind and defaults.
type lightKeys struct {
	name, entityName      *string
	kind, typ, typeName   string
	typeNumber            int
	power                 *float64
	shadow                *bool
	rows, oldRows         [4][4]float64
	haveRows, haveOldRows bool
}

// light reads a light and fills what is absent, as the engine does.
func (s *scanner) light() Light {
	l, k := DefaultLight(LightPoint), lightKeys{}
	s.members(func(key string) bool { return s.lightShape(key, &l) || s.lightKind(key, &k) })
	switch {
	case k.name != nil:
		l.Name = *k.name
	case k.entityName != nil:
		l.Name = *k.entityName
	}
	l.Kind = k.resolve()
	l.Type = LightType(l.Kind)
	l.Range = max(l.Range, 0)
	l.SourcePower = l.Intensity
	if k.power != nil {
		l.SourcePower = *k.power
	}
	l.CastsShadow = l.Kind == LightDirectional
	if k.shadow != nil {
		l.CastsShadow = *k.shadow
	}
	switch {
	case k.haveRows:
		l.LocalTransformRows = k.rows
	case k.haveOldRows:
		l.LocalTransformRows = k.oldRows
	default:
		l.LocalTransformRows = l.TransformRows()
	}
	return l
}

// lightShape reads the keys that stand for themselves.
func (s *scanner) lightShape(key string, l *Light) bool {
	switch key {
	case "color":
		s.vector(l.Color[:])
	case "intensity":
		s.numberOr(&l.Intensity)
	case "position":
		s.vector(l.Position[:])
	case "radius":
		s.numberOr(&l.Radius)
	case "range":
		s.numberOr(&l.Range)
	case "direction":
		s.vector(l.Direction[:])
	case "falloff":
		s.numberOr(&l.Falloff)
	case "right":
		s.vector(l.Right[:])
	case "inner_cone":
		s.numberOr(&l.InnerCone)
	case "up":
		s.vector(l.Up[:])
	case "outer_cone":
		s.numberOr(&l.OuterCone)
	case "area_size":
		s.vector(l.AreaSize[:])
	case "source_exposure":
		s.numberOr(&l.SourceExposure)
	case "uses_radiometric_units":
		value(s, &l.RadiometricUnit, (*scanner).boolean)
	default:
		return false
	}
	return true
}

// lightKind reads the keys that depend on each other.
func (s *scanner) lightKind(key string, k *lightKeys) bool {
	switch key {
	case "name":
		optional(s, &k.name, (*scanner).str)
	case "entity_name":
		optional(s, &k.entityName, (*scanner).str)
	case "kind":
		value(s, &k.kind, (*scanner).str)
	case "type":
		value(s, &k.typ, (*scanner).str)
	case "light_type":
		// Some exporters write the name here, others the number.
		if s.space() == '"' {
			k.typeName = s.str()
		} else {
			value(s, &k.typeNumber, (*scanner).count)
		}
	case "source_power":
		optional(s, &k.power, (*scanner).float)
	case "casts_shadow":
		optional(s, &k.shadow, (*scanner).boolean)
	case "local_transform_rows":
		if !s.null() {
			k.rows, k.haveRows = s.matrix()
		}
	case "local_transform":
		if !s.null() {
			k.oldRows, k.haveOldRows = s.matrix()
		}
	default:
		return false
	}
	return true
}

// resolve returns the light's kind from the first key that names a known one.
func (k *lightKeys) resolve() string {
	for _, name := range []string{k.kind, k.typ, k.typeName} {
		switch name {
		case LightDirectional, LightPoint, LightSpot, LightArea:
			return name
		case "sun", "dir":
			return LightDirectional
		}
	}
	if k.typeNumber >= 1 && k.typeNumber < len(lightKinds) {
		return lightKinds[k.typeNumber]
	}
	return LightPoint
}

// camera reads a camera and fills what is absent, as the engine does.
func (s *scanner) camera() Camera {
	c := DefaultCamera()
	var name, entityName *string
	var rows [4][4]float64
	haveRows := false
	s.members(func(key string) bool {
		switch key {
		case "name":
			optional(s, &name, (*scanner).str)
		case "entity_name":
			optional(s, &entityName, (*scanner).str)
		case "position":
			s.vector(c.Position[:])
		case "forward":
			s.vector(c.Forward[:])
		case "up":
			s.vector(c.Up[:])
		case "right":
			s.vector(c.Right[:])
		case "fov_y_degrees":
			s.numberOr(&c.FovYDegrees)
		case "near_clip":
			s.numberOr(&c.NearClip)
		case "far_clip":
			s.numberOr(&c.FarClip)
		case "aspect_ratio":
			s.numberOr(&c.AspectRatio)
		case "local_transform_rows":
			if !s.null() {
				rows, haveRows = s.matrix()
			}
		default:
			return false
		}
		return true
	})
	switch {
	case name != nil:
		c.Name = *name
	case entityName != nil:
		c.Name = *entityName
	}
	if c.LocalTransformRows = c.TransformRows(); haveRows {
		c.LocalTransformRows = rows
	}
	return c
}

// gradeLUT reads a record; one without a path, of another program, is none.
func (s *scanner) gradeLUT() *GradeLUT {
	g := plain[*GradeLUT](s)
	if g != nil && g.URI == "" {
		return nil
	}
	return g
}

func (s *scanner) colorLUT() (v ColorLUT) {
	s.space()
	start, seen := s.pos, uint32(0)
	v.Gamma = 1
	s.members(func(key string) bool {
		switch key {
		case "lutUri":
			s.once(&seen, 0)
			v.URI = s.str()
		case "lutSize":
			s.once(&seen, 1)
			v.Size = s.count()
		case "viewTransform":
			value(s, &v.ViewTransform, (*scanner).str)
		case "look":
			value(s, &v.Look, (*scanner).str)
		case "displayDevice":
			optional(s, &v.DisplayDevice, (*scanner).str)
		case "exposure":
			s.numberOr(&v.Exposure)
		case "gamma":
			s.numberOr(&v.Gamma)
		case "shaperMinStops":
			s.numberOr(&v.ShaperMinStops)
		case "shaperMaxStops":
			s.numberOr(&v.ShaperMaxStops)
		default:
			return false
		}
		return true
	})
	s.required(start, seen, "lutUri", "lutSize")
	return v
}

func (s *scanner) tierRadii() TierRadii {
	v := TierRadii{}
	s.members(func(tier string) bool {
		r := TierRadius{Tier: tier}
		s.members(func(key string) bool {
			switch key {
			case "streaming":
				r.Streaming = s.float()
			case "unload":
				r.Unload = s.float()
			case "priority":
				optional(s, &r.Priority, (*scanner).count)
			default:
				return false
			}
			return true
		})
		v = append(v, r)
		return true
	})
	return v
}

func (s *scanner) classifications() Classifications {
	v := Classifications{}
	s.members(func(name string) bool {
		c := Classification{Name: name, Reasons: []string{}}
		s.members(func(key string) bool {
			switch key {
			case "export_policy":
				c.ExportPolicy = s.str()
			case "xz_overlap_count":
				c.XZOverlapCount = s.count()
			case "dimensions":
				s.vector(c.Dimensions[:])
			case "dim_ratio":
				c.DimRatio = s.float()
			case "reasons":
				c.Reasons = parseStrings(s)
			default:
				return false
			}
			return true
		})
		v = append(v, c)
		return true
	})
	return v
}
