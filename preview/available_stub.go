//go:build !cgo || nopreview

package preview

const available = false
