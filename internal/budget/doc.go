// Package budget judges the figures of a run: one vocabulary of names, units and
// meanings, one way to write conditions such as tile_bytes_max>200k, and one way to
// say which of them hold and how close the others are.
package budget
