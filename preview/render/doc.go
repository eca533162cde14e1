// Package render draws the representations of a streaming runtime on a graphics
// device (package gpu): it is a runtime.Device that takes over decoded assets and
// uploads them under a budget per frame, and a runtime.Visibility that says which
// are there.
//
// A frame of the caller:
//
//	streamer.Update(camera, dt)          // calls Upload, Release, Drawable
//	drawn = streamer.AppendDrawn(drawn[:0])
//	renderer.StreamTextures(view)        // decides how large textures are
//	renderer.Pump(budget)                // uploads some of what waits
//	stats := renderer.Draw(render.Frame{Camera: camera, Drawn: drawn, ...})
//	surface.Present()
//
// Shading is metallic-roughness (GGX) under one sun with cascaded shadow maps
// and an analytic sky; colours are computed in linear light, tone mapped and
// stored as sRGB.
//
// The package has two halves. What to draw is decided without a device, and tested
// without one: collect.go makes the lists of a frame, shadow_plan.go what goes into
// shadow maps, arrays.go and bindings.go where textures lie, frame_block.go and
// material.go what shaders read. Files named _gpu hold the resources and issue the
// calls.
//
// The shaders are written once, in what GLSL 4.10 and GLSL ES 3.00 share, and in
// words that the prologue of a device defines: TABLE and UTABLE are the samplers of
// a table of texels, FETCH reads one of its texels, LEVEL is the mip level that a
// map is read at, RECORD_INPUT declares what RECORD, the number of a draw's record,
// is made of, and CLAMP_NEAR is the depth of the near plane where a device cannot
// clamp depths.
//
// A Renderer belongs to the goroutine of the surface that it was made for.
package render
