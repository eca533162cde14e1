// Package preview shows cooked scenes through the streaming runtime: in a
// window that a person steers, or headless, to take pictures and figures.
//
// Open finds the scenes behind a path: a manifest, a folder, a single .untold
// file. Run shows them until it is told to end, and returns a Report:
//
//	scenes, err := preview.Open("out/city")
//	report, err := preview.Run(ctx, preview.Options{Scenes: scenes, Config: runtime.DefaultConfig()})
//
// The parts live below: surface opens windows and headless contexts, render
// draws, camera steers, hud lays out what is written over the picture. This
// package ties them to a runtime.Streamer.
//
// With Options.FixedDT time is virtual: frame k is at k*FixedDT, loads are
// answered Options.Latency after they began, however long they take,
// textures are there in the frame after they were asked for, and pictures wait
// for theirs. Such a run gives the same events as package
// simulate with the same camera, frame time and parse time, byte for byte, as
// long as no memory budget is reached: the simulation knows sizes on the GPU
// only as the manifest estimates them.
package preview
