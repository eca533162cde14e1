package draco

// sequential reads connectivity that lists the points of each face.
func (d *decoder) sequential() {
	faces, points := d.varint(), d.varint()
	method := d.u8()
	if d.err != nil {
		return
	}
	if uint64(faces) > uint64(d.limits.Faces) || uint64(points) > uint64(d.limits.Points) {
		d.tooLarge("%d faces and %d points, the limits are %d and %d", faces, points, d.limits.Faces, d.limits.Points)
		return
	}
	d.points = int(points)
	n := 3 * int(faces)
	switch method {
	case 0:
		d.compressedIndices(n)
	case 1:
		d.rawIndices(n)
	default:
		d.fail("connectivity method %d", method)
	}
}

// compressedIndices reads differences of successive indices.
func (d *decoder) compressedIndices(n int) {
	symbols := d.symbols(n, 1)
	d.index = alloc[int32](d.reader, n)
	if d.err != nil {
		return
	}
	last := int32(0)
	for i, s := range symbols {
		diff := int32(s >> 1)
		if s&1 != 0 {
			diff = -diff
		}
		last += diff
		if last < 0 || int(last) >= d.points {
			d.fail("index %d of %d points", last, d.points)
			return
		}
		d.index[i] = last
	}
}

// rawIndices reads indices of the smallest size that suits the points.
func (d *decoder) rawIndices(n int) {
	read := func() uint32 { return d.u32() }
	switch {
	case d.points < 1<<8:
		read = func() uint32 { return uint32(d.u8()) }
	case d.points < 1<<16:
		read = func() uint32 { return uint32(d.u16()) }
	case d.points < 1<<21:
		read = d.varint
	}
	if n > len(d.data) {
		d.fail("%d indices in %d bytes", n, len(d.data))
	}
	d.index = alloc[int32](d.reader, n)
	for i := range d.index {
		v := read()
		if d.err != nil {
			return
		}
		if uint64(v) >= uint64(d.points) {
			d.fail("index %d of %d points", v, d.points)
			return
		}
		d.index[i] = int32(v)
	}
}
