package cube

// Apply returns what the table makes of a colour: between entries linearly, along one
// axis of a curve and three of a lattice; beyond the domain as at its edge.
func (t *Table) Apply(c [3]float64) (out [3]float64) {
	var at [3]int
	var part [3]float64
	for i := range 3 {
		x := (c[i] - float64(t.Min[i])) / (float64(t.Max[i]) - float64(t.Min[i])) * float64(t.Size-1)
		if !(x > 0) { // NaN, too
			x = 0
		}
		x = min(x, float64(t.Size-1))
		at[i] = min(int(x), t.Size-2)
		part[i] = x - float64(at[i])
	}
	if !t.Lattice {
		for i := range 3 {
			a, b := float64(t.Entries[at[i]][i]), float64(t.Entries[at[i]+1][i])
			out[i] = a + float64((b-a)*part[i])
		}
		return out
	}
	for corner := range 8 {
		weight, index, stride := 1.0, 0, 1
		for i := range 3 {
			if corner>>i&1 == 1 {
				weight *= part[i]
				index += (at[i] + 1) * stride
			} else {
				weight *= 1 - part[i]
				index += at[i] * stride
			}
			stride *= t.Size
		}
		for i := range 3 {
			out[i] += float64(weight * float64(t.Entries[index][i]))
		}
	}
	return out
}
