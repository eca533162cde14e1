// Package diskcache keeps downloaded files in a folder, within a budget. It knows
// nothing of HTTP: callers give the name of a file ([Name], [TextureName]) and what its
// server has said of it ([Entry]), and say when it is old.
//
// A [Cache] owns its folder: the mark that makes it a cache, the index, the whole
// files with their sidecars, the tree of textures, the partial files with their
// block maps, and the temporary files. docs/remote.md has the form of each. It
// removes nothing that the index or a sidecar does not prove to be its own, and
// follows no links.
//
// It promises that
//
//   - a name has the bytes that were stored under it, whole, or it is not there: a
//     [Writer] gives a file its name in one step, and [Cache.Lookup] compares size and
//     time, or the hash, with what was stored;
//   - a [Partial] returns no byte whose block does not have the checksum that was
//     taken when it came;
//   - the files fit the budget after every store, but for those handed out a moment
//     ago; the least recently used ones go first, and a full disk counts as a smaller
//     budget;
//   - a crash at any point loses files and invents none, and several processes may
//     use one folder.
//
// Two locks: changes (with the lock file, against other
// processes) is held for every change of the folder, and taken before mu, which
// guards the index in memory. The mu of a Partial comes before both.
//
// Three types share the work: folder reads and changes files, and knows no index and no
// locks; Cache keeps the index, the locks and the budget; Partial follows one file that
// comes in parts.
//
// Files by subject: names, disk (the file system, which tests replace, and folder), claim (is
// this folder ours), index (the log), lookup, writer, evict, recover (after a
// crash), verify, blockmap and partial.
package diskcache
