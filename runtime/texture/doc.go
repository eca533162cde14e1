// Package texture streams the textures of a scene: a [Streamer] decides how large
// every one is while the camera moves, by the distance of what it is on and
// inside a budget, and has it loaded and uploaded at that size.
//
// It knows nothing of a GPU, of scenes or of tiles. Files are found and decoded by
// runtime/texture/texfile; a [Loader] stands between, of which there are two:
// [FileLoader], and in front of it a [Warmer].
package texture
