// Package render draws the representations of a streaming runtime with OpenGL
// 4.1 core: it is a runtime.Device that takes over decoded assets and uploads
// them under a budget per frame, and a runtime.Visibility that says which are
// there.
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
// The package has two halves. What to draw is decided without OpenGL, and tested
// without a context: collect.go makes the lists of a frame, shadow_plan.go what
// goes into shadow maps, frame_block.go and material.go what shaders read. Files
// named _gl hold the resources and issue the calls.
//
// A Renderer belongs to the goroutine whose OpenGL context it was made in.
// In a build without cgo, or with the tag nopreview, New fails with
// surface.ErrUnavailable.
package render
