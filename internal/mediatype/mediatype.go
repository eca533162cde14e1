// Package mediatype knows the media types of the files that scenes consist of, by
// extension.
package mediatype

import (
	"path"
	"strings"
)

// byExtension are the media types by extension. The tables of the system are
// not asked: they differ from machine to machine.
var byExtension = map[string]string{
	".untold": "application/octet-stream",
	".utex":   "application/octet-stream",
	".bin":    "application/octet-stream",
	".json":   "application/json",
	".gltf":   "model/gltf+json",
	".glb":    "model/gltf-binary",
	".png":    "image/png",
	".jpg":    "image/jpeg",
	".jpeg":   "image/jpeg",
	".webp":   "image/webp",
	".avif":   "image/avif",
	".ktx":    "image/ktx",
	".ktx2":   "image/ktx2",
	".dds":    "image/vnd-ms.dds",
	".hdr":    "image/vnd.radiance",
	".exr":    "image/x-exr",
	".svg":    "image/svg+xml",
	".cube":   "text/plain; charset=utf-8",
	".txt":    "text/plain; charset=utf-8",
	".md":     "text/plain; charset=utf-8",
	".yaml":   "text/plain; charset=utf-8",
	".html":   "text/html; charset=utf-8",
	".css":    "text/css; charset=utf-8",
	".js":     "text/javascript; charset=utf-8",
	".wasm":   "application/wasm",
}

// Of returns the media type of a file by its name.
func Of(name string) string {
	if t, ok := byExtension[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return "application/octet-stream"
}
