// Package runtime streams a cooked scene: it decides which representation of
// every tile is wanted, loads it in the background, and says which single one
// is to be drawn. It knows nothing of windows, graphics APIs or glTF; a Device
// takes the decoded buffers.
//
// Open a Streamer, call Update once per frame with the camera, and draw what
// AppendDrawn lists:
//
//	s, err := runtime.Open(ctx, runtime.Source{Path: "city/city.json"}, config.Default(), runtime.Deps{})
//	...
//	for frame := range frames {
//		s.Update(camera, frame.Elapsed)
//		drawn = s.AppendDrawn(drawn[:0])
//	}
//	s.Close()
//
// One goroutine owns a Streamer: all methods but NotifyMemoryPressure are called
// from it. Update does no input or output and never waits; in the steady state it
// does not allocate. Its cost grows with what is near the camera, not with the
// scene. Positions and distances are metres in scene space, right-handed, +Y up;
// times are durations since an arbitrary origin of the Clock.
//
// # Inside
//
// A Streamer conducts parts, each with a state, a file prefix and tests of its
// own. A part knows only the parts before it:
//
//   - loadQueue (load_): what is asked of loaders, and the slots for it
//   - geometryBudget (budget_): what fits into the device's memory, and which tile
//     is granted how much
//   - meshStreamer (mesh_): full tiles that stream mesh by mesh
//   - residency (residency_): what is loaded, from the request to the release
//   - evictor (evict_): what goes when memory is short
//   - selector (select_): what is loaded next
//   - handoff (handoff_): which representation of a tile is drawn
//   - succession: what is left of scenes that were replaced
//
// The order of their passes stands in tick.go, with its reasons.
//
// # For injectors
//
// Everything that touches the world is behind an interface of Deps, so that a
// test or a simulation can replay a run exactly:
//
//   - Clock.Now is read at the start of every call, and to measure ticks, uploads
//     and releases. A fake clock moves between calls.
//   - Loader.Start is called on the owner goroutine, inside Update, with the
//     requests in ascending Token order. It must return at once. A loader
//     answers each request exactly once, from any goroutine and at any later
//     time, with Request.Done.Loaded (also after its Context was cancelled: the
//     concurrency slot is held until the answer or the watchdog). What is
//     posted before an Update is delivered at its beginning, in Token order
//     whatever the order of posting.
//   - Fetcher.Fetch, when there is a Fetcher, precedes Loader.Start for every
//     request and answers with Request.Done.Fetched. The parse watchdog and the
//     parse slot begin after it.
//   - PartLoader.LoadParts is called on the owner goroutine and answers as a
//     Loader does, with Request.Done.Loaded; it takes no slot.
//   - Device.Upload and Device.Release are called inside Update (Release also
//     in UnloadAll, RemoveScene, ReloadScene and Close). A full tile that
//     streams mesh by mesh is uploaded part by part, see Key.
//   - Visibility.Drawable is asked for each resident representation or part once
//     per frame until it says yes.
//   - Prewarmer.Prewarm runs on goroutines of its own; that it has ended is seen
//     at the beginning of the next Update.
//   - MemoryProbe.Memory is read once per tick; it must not do I/O.
//   - Streamer.NotifyMemoryPressure may be called from any goroutine; the next Update
//     handles it, whatever the tick interval.
//
// The same calls with the same answers give the same Events.
package runtime
