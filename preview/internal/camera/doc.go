// Package camera moves the point of view of the preview: flying and orbiting
// at speeds that fit the scene, framing what there is, authored cameras, a
// place to start from that sees something, and recording of paths that untold
// simulate replays.
//
// Everything is plain arithmetic on values; there is no window and no clock.
// Distances are metres in world space, right-handed, +Y up; angles are radians
// unless a name says degrees.
package camera
