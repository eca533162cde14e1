package geom

// UVMap is KHR_texture_transform, from stored texture coordinates to those in the image:
// scale, then rotation, then offset. v runs downwards.
type UVMap struct {
	offset, scale [2]float64
	sin, cos      float64
}

// NewUVMap returns the map with a rotation in radians, counter-clockwise.
func NewUVMap(offset [2]float64, rot float64, scale [2]float64) UVMap {
	m := UVMap{offset: offset, scale: scale}
	m.sin, m.cos = Sincos(rot)
	return m
}

// At returns where in the image stored coordinates lie.
func (m *UVMap) At(c [2]float32) [2]float64 {
	u, v := float64(c[0])*m.scale[0], float64(c[1])*m.scale[1]
	return [2]float64{
		float64(m.cos*u) + float64(m.sin*v) + m.offset[0],
		float64(m.cos*v) - float64(m.sin*u) + m.offset[1],
	}
}

// Back returns the coordinates that lie at a place in the image. They are not finite where
// the scale is 0.
func (m *UVMap) Back(at [2]float64) [2]float64 {
	x, y := at[0]-m.offset[0], at[1]-m.offset[1]
	return [2]float64{
		(float64(m.cos*x) - float64(m.sin*y)) / m.scale[0],
		(float64(m.sin*x) + float64(m.cos*y)) / m.scale[1],
	}
}
