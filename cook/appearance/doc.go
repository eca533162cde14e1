// Package appearance measures how a coarser mesh looks beside the one that it
// stands for.
//
// Distances between surfaces say little about pictures: a window that lost one
// of its two triangles, a roof in the colour of the wall below it and a lamp
// post that is gone are off by centimetres or by metres, whatever they look
// like. So both meshes are drawn, lit and with their colours, from eight sides,
// and the pictures are made smaller until they agree. The size of a pixel there
// is what is measured: seen from where a pixel of the screen is that large, one
// mesh may take the place of the other.
//
// Drawing is done in whole numbers throughout, so that the same meshes give the
// same figure on every machine. Where floating point divides sooner, what it is off
// by is put right.
package appearance
