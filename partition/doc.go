// Package partition decides which object of a scene goes into which tile. Its
// functions are pure: boxes and names in, a [Plan] out; no files, no glTF.
//
// [Grid] cuts the scene's footprint into cells of one size. [Quadtree] and
// [KDTree] cut it into floors, and these by a tree and by semantic tier: shell,
// structure, furniture and small props, which are wanted from ever less far.
//
// Positions are metres in engine space (+Y up, +Z forward, the same as glTF).
// Grid coordinates are (tx, ty, tz) along the axes u = X, h = Y and v = -Z: tz
// counts towards smaller Z.
//
// A plan does not depend on the order of the objects, but for the indices that
// it names them by: objects are told apart by their ID.
package partition
