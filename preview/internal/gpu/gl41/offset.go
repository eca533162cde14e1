//go:build cgo && !nopreview

package gl41

/*
#include <stdint.h>

#ifdef _WIN32
#define CALL __stdcall
#else
#define CALL
#endif

typedef void (CALL *texSubImage3D)(unsigned, int, int, int, int, int, int, int, unsigned, unsigned, const void *);
typedef void (CALL *compressedTexSubImage3D)(unsigned, int, int, int, int, int, int, int, unsigned, int, const void *);

static void writeTexels(void *f, unsigned target, int level, int y, int layer, int width, int height, unsigned format, unsigned type, uintptr_t offset) {
	((texSubImage3D)f)(target, level, 0, y, layer, width, height, 1, format, type, (const void *)offset);
}

static void writeBlocks(void *f, unsigned target, int level, int y, int layer, int width, int height, unsigned format, int size, uintptr_t offset) {
	((compressedTexSubImage3D)f)(target, level, 0, y, layer, width, height, 1, format, size, (const void *)offset);
}
*/
import "C"

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// What takes a place in a buffer for a pointer is called here, where the bindings take a
// pointer alone: Go looks at what calls of C are given, and a place may be the address of a
// variable of the program by chance.
var texSubImage3D, compressedTexSubImage3D unsafe.Pointer

// Load makes the functions of OpenGL callable; address returns that of one by its name, nil
// when the driver of the current context has none. It is not called while a Device is in use.
func Load(address func(name string) unsafe.Pointer) error {
	return gl.InitWithProcAddrFunc(func(name string) unsafe.Pointer {
		p := address(name)
		switch name {
		case "glTexSubImage3D":
			texSubImage3D = p
		case "glCompressedTexSubImage3D":
			compressedTexSubImage3D = p
		}
		return p
	})
}

// writeTexels and writeBlocks are TexSubImage3D and CompressedTexSubImage3D for rows of a
// layer of the bound array, from a place in the bound buffer.
func writeTexels(level, y, layer, width, height, at int) {
	C.writeTexels(texSubImage3D, gl.TEXTURE_2D_ARRAY, C.int(level), C.int(y), C.int(layer), C.int(width), C.int(height), gl.RGBA, gl.UNSIGNED_BYTE, C.uintptr_t(at))
}

func writeBlocks(level, y, layer, width, height int, format uint32, size, at int) {
	C.writeBlocks(compressedTexSubImage3D, gl.TEXTURE_2D_ARRAY, C.int(level), C.int(y), C.int(layer), C.int(width), C.int(height), C.uint(format), C.int(size), C.uintptr_t(at))
}
