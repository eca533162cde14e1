// Package journal replaces the files of a scene as one change: at every instant
// a folder holds the whole old scene or the whole new one, also when the
// program is killed or the power fails on the way.
//
// The names of a scene's files are fixed, so that many renames are needed, and
// no file system makes many renames one step. A journal does:
//
//  1. New files are gathered in a stage, DIR/.untold/cook-<number>/, under
//     their later names. Files and folders are flushed to the disk.
//  2. The journal is written beside them: which files move, with sizes and
//     hashes, and which files of the old scene go. It is flushed and renamed to
//     DIR/.untold/commit.json. That rename is the commit: before it the folder
//     is the old scene, after it the new one.
//  3. The stale files are removed, the new ones are renamed to their places, the
//     manifest last; the folders are flushed. Then the journal goes, then the
//     stage.
//
// A reader that finds a journal follows it without writing: what still lies in
// the stage is read from there, what has left it lies in its place, and what
// the journal removes is not there. [Follow], [Open], [Stat], [Names] and
// [Files] do that. The next cook finishes what it finds ([Recover]).
//
// What a stop leaves is therefore one of: a stage without a journal, which
// nobody reads and the next cook removes; or a journal and a part of the
// renames, which reads as the new scene. A journal is never torn, because it is
// flushed before it gets its name; one that is damaged all the same makes
// readers fail with [ErrDamaged] instead of showing a mixture.
//
// A journal may come from elsewhere together with its scene. It names files
// inside its folder alone: plain relative paths, no links on the way, bounded
// in number, length and depth. Who finishes it judges what it may remove and
// replace ([Judge]).
package journal
