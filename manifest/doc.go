// Package manifest reads, writes and checks the JSON file that lists the tiles
// of a cooked scene.
//
// [Load] and [Decode] are as strict as the reference engine's decoder, but say
// precisely what is wrong and where. [Manifest.Save] and
// [Manifest.Encode] write the keys in the exporter's order, byte for byte the
// same for the same manifest. [Validate] and [ValidateFile] report all that is
// wrong or odd about a manifest and its files; [Normalize] corrects the distances
// and paths of a text and leaves the rest of it alone; [Schema] is for other
// programs.
//
// Package payloadpath turns a payload path into a file and refuses everything that
// leads out of the manifest's folder, package band computes the distances at which
// a tile's representations switch, package tileid reads the names of tiles.
//
// Positions and distances are metres in engine space: right-handed, +Y up, +Z
// forward. The keys, ours included, are described in docs/manifest-keys.md.
package manifest
