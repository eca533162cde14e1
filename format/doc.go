// Package format reads, writes and validates .untold containers: the compact,
// GPU-ready files that hold one tile, one LOD, one HLOD or one shared bucket.
//
// A file is a 204-byte header, a table of 40-byte chunk entries and the chunk
// payloads, each at a multiple of 16. Seven chunks are required: strings,
// entities, meshes, materials, textures, vertex data and index data. All
// numbers are little-endian, floats are IEEE-754 single precision, matrices
// are column-major, boxes are min xyz then max xyz, in metres, +Y up.
//
// Writing: fill a [Builder], take its [File], call [File.Encode] or
// [File.WriteTo]. The same content gives the same bytes, always.
//
// Reading: [Open] (a path), [NewReader] (any io.ReaderAt) or [NewBytesReader]
// read header, table and records at once, a few kilobytes as a rule, and check
// every number that later code relies on. Geometry is read on demand, as whole
// chunks ([Reader.ReadGeometry]) or mesh by mesh ([Reader.MeshVertices],
// [Reader.MeshIndices]), without a copy where the bytes allow it. A Reader is
// safe for concurrent use.
//
// Judging: [Validate] collects every finding it can reach, with stable codes.
//
// Bytes are taken as hostile: no input makes this package panic, allocate more
// than the input (or an explicit limit) backs, or read out of range.
package format
