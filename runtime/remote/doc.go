// Package remote streams cooked scenes from HTTP servers: it downloads the files that a
// [github.com/untoldkit/untold/runtime.Streamer] asks for and keeps them in a cache on
// the disk.
//
// [New] returns a [Fetcher], which goes into runtime.Deps. [Fetcher.OpenManifest]
// brings the manifest and says which address its payloads are relative to; that
// address is the Base of the runtime.Source:
//
//	f, err := remote.New(remote.Options{})
//	m, err := f.OpenManifest(ctx, "https://cdn.example.com/city/city.json")
//	s, err := runtime.Open(runtime.Source{Path: m.File, Base: m.Base}, config, runtime.Deps{Fetcher: f})
//
// Callers that want one file at the same time share one download. A request has three
// attempts, at 0, 1 and 3 s; a manifest is asked for anew at each open, with its ETag,
// and an old one serves when the server does not. Payloads are checked against the
// size and hash that the manifest declares, and are then trusted until the manifest
// changes. The textures of a container follow in the background. [Cache] is the folder
// in which all of this lies.
//
// A payload goes one of two ways:
//
//   - a whole file: Fetcher.ensure looks into the cache (Fetcher.fresh), shares the
//     download (singleflight) and transfers the file (Fetcher.transfer), which resumes
//     where an earlier attempt broke off;
//   - by ranges, for tiles that stream mesh by mesh, where payload.Request.Split allows
//     it and the server can: a rangeFile fetches the tables first and then the ranges
//     that are wanted. The cache keeps them, and the file becomes a whole one when all
//     have come. [Fetcher.OpenRange] reads a file that way without keeping it.
//
// Three rooms lie below: httpClient does requests (places at hosts, timeouts, attempts,
// zones, secrets) and knows no files; internal/diskcache keeps files and knows no HTTP;
// internal/weburl reads and shows addresses.
//
// Times come from a [Clock] and bytes from an http.RoundTripper; tests replace
// both. docs/remote.md describes the behaviour in full.
package remote
