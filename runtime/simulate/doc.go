// Package simulate runs the streaming runtime on a fake clock, with an injected
// loader, device, camera and memory, and judges what it does. It needs no
// display and no network, and two runs of the same scenario give the same
// events, byte for byte.
//
// A Scenario comes from a JSON file ([Parse], [Load]), from a cooked scene
// ([Cooked]) or from code. [Run] runs it and returns the events, the
// differences from what the scenario expects, the figures of a [Report] and, on
// request, what [WritePlot] needs. The format of the files, the events and the
// report are described in testdata/simulate/README.md; the command is untold
// simulate.
//
// Textures stream too, as in a renderer: on a device that counts bytes, with a
// loader that knows sizes, those of the scenario or of a cooked scene's files.
//
// A cooked scene can also be loaded for real, by Options.Fetcher and
// Options.Loader. Then the simulated time does not run ahead of the wall clock
// while something is under way.
//
// Time: frame k is at k*dt. Inside a frame completions that are due are
// delivered in the order of their requests, actions and pressure signals
// happen, then the runtime is updated. The clock starts at 1000 s, so that "0
// means unset" cannot hide; times in files and events are relative to frame 0.
package simulate
