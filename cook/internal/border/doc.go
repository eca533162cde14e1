// Package border simplifies what lies on the sides of a cell, so that the geometry of
// neighbouring cells goes on fitting together.
//
// Geometry that was cut at the side of a cell has the same edges on both sides of the
// cut. What becomes of them follows from these edges alone, so that both sides find the
// same places, each without the other.
//
// Settle does it for one tolerance and positions alone. Find plans it for any number of
// levels, each a part of the finer ones, minds where looks change along the edges, and
// knows how far each edge is from what it stands for, which Level.Close fills.
package border
