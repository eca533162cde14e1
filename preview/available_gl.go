//go:build (cgo && !nopreview) || js

package preview

const available = true
