// Package palette finds where textures are palettes, and makes the simplifier weigh
// colours there instead of texture coordinates.
//
// Kits paint everything with one texture of colours and gradients. Texture
// coordinates jump between its cells, though two of them may have the same colour,
// and their mean is in a third cell: a simplifier that takes them for what is seen
// keeps what nobody would miss and smears the rest. A cell is a rectangle of the
// texture without an edge in it. Triangles within one get a group of their own, so
// that coordinates are averaged in it alone and stay there, and the sampled colour
// as an attribute.
package palette
