// Package payload loads the .untold files of a scene's tiles: which
// representation of which tile a request names (Key, Rep), how loaders are asked
// and answer (Request, Loader, Fetcher, Completions, Result), and what they bring
// (Asset, with its Layout of meshes that can be streamed one by one). It knows
// no Streamer: it decides nothing about what is wanted or resident.
//
// FileLoader reads files of the local disk. MeshCache stands in front of a
// loader and shares what several entities name. A file that is far away comes in
// parts through Ranges.
//
// Every request is answered exactly once, by Request.Done, from any goroutine.
package payload
