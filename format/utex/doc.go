// Package utex reads, writes and validates .utex files: one texture with its
// mip chain in a form that a GPU takes as it is.
//
// A file is a header of 64 bytes, a table with 16 bytes per level, the largest
// first, and the levels, each at a multiple of 16 bytes. Numbers are
// little-endian, rows run from the top, and the pixel format is a number of
// Metal's MTLPixelFormat. A [Reader] gets single levels out of a file, a range
// of one or a remote one.
//
// The table says where each level lies. A [Writer] puts the smallest one first,
// so that header, table and small levels are the beginning of the file
// ([Info.Prefix]) and a texture that is far away costs one short range. Other
// programs put the largest first; readers here and the reference engine take
// any order.
//
// The reference engine loads the ASTC formats, RGBA16Float and R16Unorm. BC7
// and BC5, which GPUs of desktops read, are this project's: [BC7SRGB] for
// colours, [BC7] for linear data, [BC5] for normal maps, whose X lies in red and
// Y in green; the shader rebuilds Z = sqrt(1 - X*X - Y*Y). Normal maps in ASTC
// have X in red, green and blue, Y in alpha, and the flag [NormalPacked].
package utex
