// Package preview shows cooked scenes through the streaming runtime: in a
// window that a person steers, or headless, to take pictures and figures.
//
// Open finds the scenes behind a path: a manifest, a folder, a single .untold
// file. Run shows them until it is told to end, and returns a Report:
//
//	scenes, err := preview.Open("out/city")
//	report, err := preview.Run(ctx, preview.Options{Scenes: scenes, Config: config.Default()})
//
// The parts live below: surface opens windows and headless contexts, render
// draws, camera steers, hud lays out what is written over the picture, stats
// measures. This package ties them to a runtime.Streamer.
//
// With Options.FixedDT time is virtual: frame k is at k*FixedDT, and package
// simulate decides with its model of loads, memory and textures what happens
// when; this package reads what has been loaded by then, waits for it and draws
// it. Such a run gives the same events as simulate with the same camera, frame
// time and parse time, byte for byte, textures and budgets included.
package preview
