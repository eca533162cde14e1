// Package utex reads, writes and validates .utex files: one texture with its
// mip chain in a form that a GPU takes as it is.
//
// A file is a header of 64 bytes, a table with 16 bytes per level, and the
// levels, the largest first, each at a multiple of 16 bytes. Numbers are
// little-endian, rows run from the top, and the pixel format is a number of
// Metal's MTLPixelFormat. A [Reader] gets single levels out of a file, a range
// of one or a remote one, so that a texture that is far away costs no more than
// its small levels.
//
// The reference engine loads the ASTC formats, RGBA16Float and R16Unorm. BC7
// and BC5, which GPUs of desktops read, are this project's: [BC7SRGB] for
// colours, [BC7] for linear data, [BC5] for normal maps, whose X lies in red and
// Y in green; the shader rebuilds Z = sqrt(1 - X*X - Y*Y). Normal maps in ASTC
// have X in red, green and blue, Y in alpha, and the flag [NormalPacked].
package utex
