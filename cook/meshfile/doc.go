// Package meshfile reads meshes in OBJ (with its MTL files), PLY and STL and makes glTF
// scenes of them, which package gltfscene opens like any other.
//
// A file is read once, from its beginning to its end. What it holds goes to lists that
// move to temporary files when they are long, so that files of any size are read within
// little memory. Then its faces become triangles, and objects with many of them pieces
// that hang together in space: whoever cooks a part of a scene needs to decode only what
// lies there.
package meshfile
