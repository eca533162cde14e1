// Package remote streams cooked scenes from HTTP servers: it downloads what a
// [github.com/untoldkit/untold/runtime.Streamer] asks for and keeps it in a
// cache on the disk.
//
// [New] returns a [Fetcher], which goes into runtime.Deps. [Fetcher.OpenManifest]
// brings the manifest and says which address its payloads are relative to; that
// address is the Base of the runtime.Source:
//
//	f, err := remote.New(remote.Options{})
//	m, err := f.OpenManifest(ctx, "https://cdn.example.com/city/city.json")
//	s, err := runtime.Open(runtime.Source{Path: m.File, Base: m.Base}, config, runtime.Deps{Fetcher: f})
//
// Every address is requested once, however many ask for it at the same time.
// A request has three attempts, at 0, 1 and 3 s; a manifest is asked for anew at
// each open, with its ETag, and an old one serves when the server does not.
// Payloads are checked against the size and hash that the manifest declares and
// are then trusted until the manifest changes. The textures of a container
// follow in the background.
//
// [Cache] is the folder: files by the SHA-256 of their address, textures in a
// tree per scene at their relative paths, an index, least recently used files
// first to go. Several processes may share it.
//
// Tiles that stream mesh by mesh come in parts where runtime.Request.Split allows
// it and the server can: their tables first, then what is wanted. The cache keeps
// the parts. Downloads that break go on where they broke.
//
// [Fetcher.OpenRange] reads parts of a remote file without fetching the rest.
//
// Times come from a [Clock] and bytes from an http.RoundTripper; tests replace
// both. docs/remote.md describes the behaviour in full.
package remote
