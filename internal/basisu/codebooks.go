package basisu

import "math"

// Codebooks are what all pictures of a BasisLZ file share: the colours and the
// patterns of its blocks, and the tables that name them.
type Codebooks struct {
	colors    [][4]uint32 // by endpoint and selector value: RGBA, red in the lowest byte
	selectors []uint32    // two bits a pixel, the first in the lowest

	predictor, delta, selector, run huffman
	history                         int // of selectors
}

// Global is the data that all slices of a BasisLZ file share, in the terms of the
// KTX 2.0 specification.
type Global struct {
	EndpointCount, SelectorCount int
	Endpoints, Selectors, Tables []byte
}

// NewCodebooks reads them. The error matches ErrDamaged.
func NewCodebooks(g Global) (*Codebooks, error) {
	// An endpoint has two codes of a bit at least, a selector four.
	if g.EndpointCount < 1 || g.SelectorCount < 1 || g.EndpointCount > math.MaxUint16 || g.SelectorCount > math.MaxUint16 ||
		g.EndpointCount > 4*len(g.Endpoints) || g.SelectorCount > 2*len(g.Selectors)+1 {
		return nil, damaged("%d endpoints in %d bytes, %d selectors in %d bytes", g.EndpointCount, len(g.Endpoints), g.SelectorCount, len(g.Selectors))
	}
	c := &Codebooks{}
	if err := c.readEndpoints(g.Endpoints, g.EndpointCount); err != nil {
		return nil, err
	}
	if err := c.readSelectors(g.Selectors, g.SelectorCount); err != nil {
		return nil, err
	}
	return c, c.readTables(g.Tables)
}

// readTables reads what slices are coded with.
func (c *Codebooks) readTables(data []byte) error {
	r := &bitReader{data: data}
	for _, h := range [...]*huffman{&c.predictor, &c.delta, &c.selector, &c.run} {
		var err error
		if *h, err = r.table(); err != nil {
			return err
		}
	}
	c.history = int(r.bits(13))
	if r.over() || c.predictor.empty() || c.selector.empty() {
		return damaged("the tables of the slices are cut off or empty")
	}
	return nil
}

// readEndpoints reads base colours of 5 bits a channel and intensities, each as
// the difference from the one before.
func (c *Codebooks) readEndpoints(data []byte, count int) error {
	r := &bitReader{data: data}
	var color [3]huffman // by the last value
	var intensity huffman
	for _, h := range [...]*huffman{&color[0], &color[1], &color[2], &intensity} {
		var err error
		if *h, err = r.table(); err != nil {
			return err
		}
	}
	channels := 3
	if r.bits(1) == 1 {
		channels = 1 // grey
	}
	last, strength := [3]int{16, 16, 16}, 0
	c.colors = make([][4]uint32, count)
	for i := range c.colors {
		strength = (strength + r.symbol(&intensity)) & 7
		for k := range channels {
			h := &color[0]
			switch v := last[k]; {
			case v >= 22:
				h = &color[2]
			case v >= 10:
				h = &color[1]
			}
			last[k] = (last[k] + r.symbol(h)) & 31
		}
		if channels == 1 {
			last[1], last[2] = last[0], last[0]
		}
		c.colors[i] = etc1sColors(last, strength)
		if r.wrong {
			break
		}
	}
	if r.over() {
		return damaged("the endpoints are cut off")
	}
	return nil
}

// intensities are the offsets of ETC1's tables, by selector value.
var intensities = [8][4]int{
	{-8, -2, 2, 8},
	{-17, -5, 5, 17},
	{-29, -9, 9, 29},
	{-42, -13, 13, 42},
	{-60, -18, 18, 60},
	{-80, -24, 24, 80},
	{-106, -33, 33, 106},
	{-183, -47, 47, 183},
}

// etc1sColors returns the four opaque colours of an endpoint.
func etc1sColors(base [3]int, table int) (out [4]uint32) {
	for i, offset := range intensities[table] {
		v := uint32(0xff << 24)
		for k, b := range base {
			v |= uint32(min(max(b<<3|b>>2+offset, 0), 255)) << (8 * k)
		}
		out[i] = v
	}
	return out
}

// readSelectors reads the patterns, plain or as differences by exclusive or.
func (c *Codebooks) readSelectors(data []byte, count int) error {
	r := &bitReader{data: data}
	if r.bits(2) != 0 {
		return damaged("the selectors refer to a codebook outside of the file")
	}
	plain := r.bits(1) == 1
	var delta huffman
	if !plain {
		var err error
		if delta, err = r.table(); err != nil {
			return err
		}
	}
	c.selectors = make([]uint32, count)
	for i := range c.selectors {
		if plain || i == 0 {
			c.selectors[i] = r.bits(32)
			continue
		}
		v := c.selectors[i-1]
		for k := range 4 {
			v ^= uint32(r.symbol(&delta)&0xff) << (8 * k)
		}
		c.selectors[i] = v
		if r.wrong {
			break
		}
	}
	if r.over() {
		return damaged("the selectors are cut off")
	}
	return nil
}
