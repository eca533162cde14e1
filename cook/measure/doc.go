// Package measure tells how far two triangle surfaces lie apart and how much
// their shading differs.
//
// Distances are exact: from a point to the nearest point of any triangle. Each
// surface is sampled at points that are stratified by area and looked up on
// the other one; the two mean squares are averaged, so that the result does
// not depend on which surface comes first. All vertices take part in the
// maximum. Shading is compared at the same pairs of points, by the angle
// between the interpolated normals.
//
// Results depend on the surfaces and the number of samples alone, not on the
// number of processors.
package measure
