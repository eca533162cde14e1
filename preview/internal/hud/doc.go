// Package hud lays out what the preview draws over and into the picture: the
// panel of figures, the frame graph, the mini map, help and the chooser of
// scenes as triangles of a render.Overlay, and boxes, rings and frustums as
// lines in the scene.
//
// It is plain arithmetic: no window, no clock and no OpenGL, so that a test can
// look at every picture.
package hud
