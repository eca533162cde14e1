package geom

// Mat4 is a column-major 4x4 matrix that transforms column vectors, as in
// glTF and in simd_float4x4: element (row r, column c) is m[4*c+r].
type Mat4 [16]float64

// Identity returns the identity matrix.
func Identity() Mat4 {
	return Mat4{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
}

// TRS returns translation * rotation * scale; q is a quaternion (x, y, z, w)
// and is normalised first (identity when its length is 0).
func TRS(t Vec3, q [4]float64, s Vec3) Mat4 {
	n := float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3])
	if !(n > 0) {
		q, n = [4]float64{0, 0, 0, 1}, 1
	}
	k := 2 / n
	prod := func(a, b int) float64 { return float64(q[a] * q[b]) }
	xx, yy, zz := prod(0, 0), prod(1, 1), prod(2, 2)
	xy, xz, yz := prod(0, 1), prod(0, 2), prod(1, 2)
	wx, wy, wz := prod(3, 0), prod(3, 1), prod(3, 2)
	return Mat4{
		(1 - float64(k*(yy+zz))) * s[0], k * (xy + wz) * s[0], k * (xz - wy) * s[0], 0,
		k * (xy - wz) * s[1], (1 - float64(k*(xx+zz))) * s[1], k * (yz + wx) * s[1], 0,
		k * (xz + wy) * s[2], k * (yz - wx) * s[2], (1 - float64(k*(xx+yy))) * s[2], 0,
		t[0], t[1], t[2], 1,
	}
}

// Mul returns m * o: o is applied first.
func (m Mat4) Mul(o Mat4) Mat4 {
	var r Mat4
	for c := range 4 {
		for i := range 4 {
			// The conversions forbid fused multiply-add, so that every
			// architecture computes the same bits.
			r[4*c+i] = float64(m[i]*o[4*c]) + float64(m[4+i]*o[4*c+1]) +
				float64(m[8+i]*o[4*c+2]) + float64(m[12+i]*o[4*c+3])
		}
	}
	return r
}

// Point transforms a position (w = 1; the last row is taken as 0 0 0 1).
func (m *Mat4) Point(p Vec3) Vec3 {
	return Vec3{
		float64(m[0]*p[0]) + float64(m[4]*p[1]) + float64(m[8]*p[2]) + m[12],
		float64(m[1]*p[0]) + float64(m[5]*p[1]) + float64(m[9]*p[2]) + m[13],
		float64(m[2]*p[0]) + float64(m[6]*p[1]) + float64(m[10]*p[2]) + m[14],
	}
}

// Dir transforms a direction (w = 0).
func (m *Mat4) Dir(p Vec3) Vec3 {
	return Vec3{
		float64(m[0]*p[0]) + float64(m[4]*p[1]) + float64(m[8]*p[2]),
		float64(m[1]*p[0]) + float64(m[5]*p[1]) + float64(m[9]*p[2]),
		float64(m[2]*p[0]) + float64(m[6]*p[1]) + float64(m[10]*p[2]),
	}
}

// Det3 returns the determinant of the upper-left 3x3 part; negative means
// that the transform mirrors.
func (m *Mat4) Det3() float64 {
	return m.Column(0).Dot(m.Column(1).Cross(m.Column(2)))
}

// Column returns the first three elements of column c.
func (m *Mat4) Column(c int) Vec3 { return Vec3{m[4*c], m[4*c+1], m[4*c+2]} }

// Cofactor returns the matrix of cofactors of the upper-left 3x3 part, which
// is det * inverse-transpose: it transforms normals up to length (and, for a
// mirroring transform, sign), and exists also for singular matrices.
func (m *Mat4) Cofactor() Mat4 {
	a, b, c := m.Column(0), m.Column(1), m.Column(2)
	x, y, z := b.Cross(c), c.Cross(a), a.Cross(b)
	return Mat4{x[0], x[1], x[2], 0, y[0], y[1], y[2], 0, z[0], z[1], z[2], 0, 0, 0, 0, 1}
}

// InverseAffine returns the inverse of a matrix with the last row 0 0 0 1; the
// identity and false when there is none.
func (m *Mat4) InverseAffine() (inv Mat4, ok bool) {
	det := m.Det3()
	if !m.IsFinite() || det == 0 || m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1 {
		return Identity(), false
	}
	c := m.Cofactor()
	for row := range 3 {
		for col := range 3 {
			inv[4*col+row] = c[4*row+col] / det
		}
	}
	t := inv.Dir(Vec3{m[12], m[13], m[14]})
	inv[12], inv[13], inv[14], inv[15] = -t[0], -t[1], -t[2], 1
	return inv, inv.IsFinite()
}

// IsFinite reports whether no element is NaN or infinite.
func (m *Mat4) IsFinite() bool {
	var s float64
	for _, v := range m {
		s += v - v
	}
	return s == 0
}
