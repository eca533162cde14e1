// Package pyramid makes models that stand in for parts of a scene from afar: few
// triangles with one set of baked textures.
//
// A leaf is made of a tile's full geometry, a node of models that lie below it, so that the
// cost of a node does not depend on how much it stands for: of those two levels below, where
// there are, and else of its children. What two steps lose adds up less when they are one.
//
//	Leaf   describes full geometry, with the materials of the scene
//	Join   describes models side by side, each a group of its own
//	Build  simplifies a description, unwraps it and bakes its textures
//
// Errors add up on the way: a model is never said to be closer to the scene than what
// it was made of.
package pyramid
