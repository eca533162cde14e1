// Package bake makes textures that show on a coarse mesh what a detailed surface
// shows: base colour with coverage, normals, occlusion, roughness and metalness,
// and light of its own.
//
// Three steps follow one another:
//
//	Unwrap  divides the coarse mesh into charts, which are folded onto a plane without
//	        overlap, and turns each into its smallest rectangle
//	Pack    gives every chart a place in a square of texels, all at one scale
//	Bake    finds for each texel the point of the coarse mesh, for that the point of
//	        the detailed surface that it stands for, and what that looks like there
//
// Products are rounded before they are summed, and no result depends on how many
// processors work: the same input gives the same bytes on every machine.
package bake
