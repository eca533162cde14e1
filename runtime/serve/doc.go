// Package serve is the HTTP server for cooked scenes: what a CDN would do with
// the folder, on one machine, and what a bad network would do to it on request.
//
// [New] makes an http.Handler of a folder. It answers GET and HEAD with strong
// entity tags, Last-Modified, single and multiple byte ranges and conditional
// requests (RFC 9110), under the CORS headers that a page of another origin
// needs. JSON and other text is compressed for clients that accept gzip and ask
// for no range, as another representation with a tag of its own; all else is sent
// as it lies on the disk, so that ranges and hashes mean the bytes of the file.
// Nothing outside the folder is reachable, links included; names that start with
// a dot do not exist; folders are not listed, but "/" shows the manifests.
//
// The entity tag is a hash of the content: a scene that was cooked again, or
// copied to another machine, keeps the tags of the files that did not change.
//
// [Options] add latency, a bandwidth that all responses share, and failures
// whose choice depends on nothing but the seed, the path and how often it was
// asked for. [Serve] runs a handler on a listener with limits for slow clients,
// and stops within [Grace] of the end of its context. All waiting goes through
// a [Clock].
package serve
