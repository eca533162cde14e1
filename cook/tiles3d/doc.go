// Package tiles3d writes cooked scenes as 3D Tiles 1.1 (OGC 22-025r4), which the viewers
// of that standard stream: tileset.json, a GLB for each container of the scene, and the
// textures, which those share.
//
// A tile of the scene is a chain of tiles of the tileset, from its coarsest level to its
// full geometry, each of which replaces the one above. The nodes of a pyramid are the
// upper tree; without one, tiles lie in groups that show nothing themselves. The shared
// bucket is drawn beside all that. geometricError is what was measured when the scene was
// cooked: the greater one of how far a level lies from the full geometry and the size of
// what is seen of the difference, and what quantization adds; it never falls going up.
// Bounding volumes are boxes that hold what the GLBs decode to.
//
// Scenes have Y up, as glTF has, and tilesets Z up: X stays, Y of a tileset is -Z of the
// scene. GLBs keep their axes; viewers turn them.
//
// Geometry is quantized and compressed (KHR_mesh_quantization, EXT_meshopt_compression)
// unless Options.Plain says otherwise. Positions of all tiles are multiples of one step,
// so that tiles which met still meet.
//
// The same scene gives the same bytes, whatever Options.Jobs is.
package tiles3d
