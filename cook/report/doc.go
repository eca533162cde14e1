// Package report shows what a cook did and why: a [Report] as JSON or as one
// self-contained HTML page, and a [Map] of the partition from above as SVG or
// PNG.
//
// [New] fills a Report from the manifest and the plan that a cook made; the
// caller adds what only it knows (options, dropped levels, notes). [NewCompat]
// sets two plans of one scene side by side. [NewMap] needs a manifest alone,
// also one of another exporter.
//
// Distances and positions are metres in engine space, sizes are bytes. The
// same input gives the same bytes on every machine. All texts may come from
// hostile files; the writers escape them.
package report
