// Package gltfexport turns .untold containers and whole manifests back into
// glTF 2.0, as .glb or as .gltf with a .bin, so that any glTF tool can look at
// what was cooked and tests can compare it with its source.
//
// Entities become nodes with their names, parents and local transforms; mesh
// records become primitives, and entities that share ranges share a mesh. Of a
// manifest every tile becomes a node, named after its id, with the tile's
// entities below it; the shared bucket is a node of its own. Textures and
// materials that agree are written once. Texture coordinates are turned back
// to glTF's top-down v, normals and tangents get unit length again.
//
// [Export] opens a container, a manifest or a folder with one manifest.
// Textures in blocks for the GPU (.utex: ASTC, BC7 and BC5; KTX2) become PNG of 8 bits
// a channel: their first level, as it is stored, sRGB or linear; normal maps of two
// channels get their third.
//
// Output is streamed: memory holds one container's geometry, a few MiB of the
// output and one decoded texture, of at most 8192 x 8192 texels; three where
// metallic and roughness are put together. The same input gives the same bytes. The output appears
// under its name only when it is complete.
//
// Input is taken as hostile: records are checked by [format.Reader], payload
// and texture paths cannot leave the folder of the file that names them, and
// numbers that glTF forbids are replaced and counted in [Result.Notes].
package gltfexport
