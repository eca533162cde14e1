// Package diff says what changed between two cooks of a scene: two manifests with
// their payloads, or two containers.
//
// Tiles are matched by their ids, levels by their place in a tile, nodes of the
// pyramid by their ids. Payloads with the same bytes are not looked into. Of others
// the records are compared, meshes by their material and names, and the triangles
// one by one: whatever their order, a triangle with the same corners is the same.
// What is left is the same with other attributes (normals, texture coordinates,
// colours, material), has moved (the same shape elsewhere), or was added or removed.
//
// Compare(b, a) is the mirror image of Compare(a, b), and the result does not
// depend on the number of jobs. Two payloads a job are in memory at a time, and
// besides only what differs.
//
// Bytes are taken as hostile: files are read by package format, paths of payloads
// and textures may not leave their folder, and the work is bounded by the sizes of
// the files. What does not open is a Failure of the result and keeps nothing else
// from being compared.
package diff
