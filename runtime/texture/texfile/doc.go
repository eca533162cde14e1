// Package texfile finds and decodes the files of the textures that a payload
// names: PNG, JPEG, WebP, .utex and KTX2 files beside the .untold file.
//
// [Find] turns a URI of a texture record into a file below the payload's
// folder, or refuses it: URIs are as little to be trusted as the rest of a
// payload. [Decode] reads an image into 8-bit levels with a full mip chain,
// filtered in linear light, and can start the chain at a smaller level, which
// is how a texture that is far away stays small. [DecodeAt] reads cooked
// textures as well, whose blocks a GPU takes as they are; [ReadFile] does all of
// it for a URI. [Size] says what levels a file has.
//
// The package is pure Go and knows nothing of a GPU, nor of who streams what it
// decodes. Its functions are safe for concurrent use.
package texfile
