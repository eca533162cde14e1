package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/meshfile"
	"github.com/untoldkit/untold/cook/usd"
	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/runtime/remote"
)

// downloadFlags are those for inputs at addresses.
type downloadFlags struct{ remoteFlags }

func (d *downloadFlags) register(f *pflag.FlagSet) {
	f.Var(&d.maxDownload, "max-download", "most bytes that are downloaded of inputs at http(s) addresses (default 20G)")
	f.DurationVar(&d.timeout, "timeout", visitTime, "most time that downloading inputs may take in all, 0 for no limit")
	f.BoolVar(&d.insecure, "allow-insecure-http", false, "allow plain http to other machines than this one")
}

// inputKinds are the endings of scenes that can be cooked; isInput knows them.
const inputKinds = ".gltf, .glb, .usd, .usda, .usdc, .usdz, .obj, .ply, .stl"

// isInput reports whether a name ends like a scene that can be cooked.
func isInput(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gltf", ".glb":
		return true
	}
	return meshfile.FormatOf(name) != meshfile.None || usd.IsName(name)
}

// isLocal reports whether an input is a file or a folder, and not an address or the
// standard input.
func isLocal(input string) bool { return input != "-" && !remote.IsURL(input) }

// applyProfileOf applies the profile beside an input; those without a folder have none.
func (a *app) applyProfileOf(cmd *cobra.Command, input string) error {
	if !isLocal(input) {
		return nil
	}
	return a.applyProfile(cmd, input)
}

// cookSettings registers the flags of a cook of an input from within another command, and
// sets them as the environment and files of settings say.
func (a *app) cookSettings(c *cookFlags, input string, more ...*profile) (*cobra.Command, error) {
	cmd := &cobra.Command{Use: "cook"}
	c.register(cmd.Flags())
	if err := applyEnv(cmd); err != nil {
		return nil, err
	}
	if a.profile != nil {
		more = append(more, a.profile)
	}
	for _, p := range more {
		if err := p.applyAll(cmd, a.flags); err != nil {
			return nil, err
		}
	}
	return cmd, a.applyProfileOf(cmd, input) // nothing with a.profile
}

// withInputs turns arguments into what is cooked and calls f with the path of the scene,
// or its name where it consists of Options.Items. What was downloaded is gone afterwards.
func (c *cookFlags) withInputs(cmd *cobra.Command, a *app, args []string, f func(scene string) error) error {
	if a.flagsOnly {
		return f(args[0])
	}
	online := slices.ContainsFunc(args, remote.IsURL)
	if err := a.checkEffects(cmd.Flags(), serverNeeds(cmd.Flags(), online)); err != nil {
		return err
	}
	if !online && !slices.Contains(args, "-") {
		items, err := localInputs(args)
		if err != nil {
			return err
		}
		if err := a.checkEffects(cmd.Flags(), axisNeeds(items)); err != nil {
			return err
		}
		a.noteDeeper(args, items)
		return f(c.compose(args, items))
	}
	if err := c.free(); err != nil { // before anything is brought
		return err
	}
	if !online {
		dir, err := os.MkdirTemp("", "untold-*")
		if err != nil {
			return err
		}
		err = c.gather(cmd, a, args, dir, nil, f)
		return errors.Join(err, os.RemoveAll(dir))
	}
	return c.download.visit(cmd.Context(), a, func(ctx context.Context, dir string, fetch *remote.Fetcher) error {
		return c.gather(cmd, a, args, dir, &downloads{ctx: ctx, fetch: fetch}, f)
	})
}

// free reports whether no other cook writes to the output folder now.
func (c *cookFlags) free() error {
	if c.out == "" || c.opts.DryRun || c.shard != "" {
		return nil
	}
	release, state, err := holding.Folder(c.out)
	if err != nil {
		return nil // it may not be there yet; what is wrong with it the cook says
	}
	if state == holding.Busy {
		return fmt.Errorf("%s: %w; wait for it or choose another folder", c.out, cook.ErrBusy)
	}
	release()
	return nil
}

// axisNeeds are those of the flags that say what files other than glTF mean.
func axisNeeds(items []cook.Item) []need {
	other := slices.ContainsFunc(items, func(it cook.Item) bool {
		return meshfile.FormatOf(it.File) != meshfile.None || cook.IsListName(it.File)
	})
	const why = "glTF and USD have axes and units of their own; it is for OBJ, PLY and STL"
	return []need{{"up", other, why}, {"units", other, why}}
}

// gather brings inputs from elsewhere into a folder.
func (c *cookFlags) gather(cmd *cobra.Command, a *app, args []string, dir string, d *downloads, f func(scene string) error) error {
	var items []cook.Item
	for i, arg := range args {
		at := filepath.Join(dir, "input", fmt.Sprint(i))
		var more []cook.Item
		var err error
		switch {
		case arg == "-":
			if slices.Index(args, "-") < i {
				return errors.New("the standard input can be read once: name - once")
			}
			more, err = readStdin(cmd.InOrStdin(), at)
		case remote.IsURL(arg):
			list := cook.IsListName(addressPath(arg))
			if list && len(args) > 1 {
				return notAlone(remote.Redact(arg))
			}
			more, err = d.bring(a, arg, at, &c.opts)
			if list && err == nil {
				c.opts.Items = more
				return f(c.sceneOf(arg))
			}
		default:
			more, err = localInputs([]string{arg})
		}
		if err != nil {
			return err
		}
		items = append(items, more...)
	}
	a.noteDeeper(args, items)
	scene := c.compose(args, items)
	if len(c.opts.Items) == 0 { // what was brought is known by its own name
		c.opts.Items = items
	}
	return f(scene)
}

func notAlone(list string) error {
	return fmt.Errorf("%s is a placement list, which is a scene of its own: name it alone, or its files", list)
}

// compose sets the items of several inputs, and returns the scene's path or name.
func (c *cookFlags) compose(args []string, items []cook.Item) string {
	if len(items) == 1 && c.sceneName == "" {
		return items[0].File
	}
	if len(items) == 1 && cook.IsListName(items[0].File) {
		return items[0].File // names itself
	}
	c.opts.Items = items
	if c.sceneName != "" {
		return c.sceneName + ".scene"
	}
	// The folder, where there is one.
	folder := ""
	for i := range items {
		at, err := filepath.Abs(items[i].File)
		if items[i].At != "" || err != nil {
			return "scene.scene"
		}
		if dir := filepath.Dir(at); folder == "" {
			folder = dir
		} else if folder != dir {
			folder = "scene"
		}
	}
	if st, err := os.Stat(args[0]); len(args) == 1 && err == nil && st.IsDir() {
		if at, err := filepath.Abs(args[0]); err == nil {
			folder = at
		}
	}
	if folder = filepath.Base(folder); folder == "." || folder == string(filepath.Separator) {
		folder = "scene"
	}
	return folder + ".scene"
}

// localInputs expands folders and patterns. Each file comes once.
func localInputs(args []string) ([]cook.Item, error) {
	var items []cook.Item
	seen := map[string]bool{}
	add := func(names ...string) {
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				items = append(items, cook.Item{File: n})
			}
		}
	}
	for _, arg := range args {
		st, err := os.Stat(arg)
		switch {
		case err == nil && st.IsDir():
			found := inputsIn(arg)
			if len(found) == 0 {
				return nil, noInputs(arg)
			}
			add(found...)
		case err != nil && strings.ContainsAny(arg, "*?["):
			list, err := filepath.Glob(arg)
			if err != nil {
				return nil, fmt.Errorf("%s is no pattern: %w", arg, err)
			}
			list = slices.DeleteFunc(list, func(n string) bool { return !isInput(n) })
			if len(list) == 0 {
				return nil, fmt.Errorf("no file to cook (%s) matches %s", inputKinds, arg)
			}
			add(list...)
		case err != nil && strings.Contains(arg, "://"):
			return nil, fmt.Errorf("%s is no address that cook reads: name a file, or an http(s) address", oneLine(arg))
		default:
			if len(args) > 1 && cook.IsListName(arg) {
				return nil, notAlone(arg)
			}
			add(arg)
		}
	}
	return items, nil
}

// inputsIn lists what can be cooked in a folder, or else in those right below it.
func inputsIn(dir string) []string {
	list, _ := os.ReadDir(dir) // whoever opens a file there says what is wrong
	var found, below []string
	for _, d := range list {
		at := filepath.Join(dir, d.Name())
		switch {
		case strings.HasPrefix(d.Name(), "."):
		case d.IsDir():
			more, _ := os.ReadDir(at)
			for _, m := range more {
				if !m.IsDir() && isInput(m.Name()) && !strings.HasPrefix(m.Name(), ".") {
					below = append(below, filepath.Join(at, m.Name()))
				}
			}
		case isInput(d.Name()):
			found = append(found, at)
		}
	}
	if len(found) > 0 {
		return withoutParts(found)
	}
	return withoutParts(below)
}

// noInputs says that a folder and those right below it hold nothing to cook, and names one
// farther below that does.
func noInputs(dir string) error {
	there := ""
	inputsBelow(dir, func(at string) bool {
		there = fmt.Sprintf("; %s does: name that", filepath.Dir(at))
		return false
	})
	return fmt.Errorf("%s holds no file to cook (%s), nor do the folders right below it%s", dir, inputKinds, there)
}

// noteDeeper says how many files lie farther down in folders than those that are cooked.
// Layers of USD do not count, which may be parts of others.
func (a *app) noteDeeper(args []string, items []cook.Item) {
	taken := map[string]bool{}
	for i := range items {
		taken[filepath.Clean(items[i].File)] = true
	}
	for _, arg := range args {
		if st, err := os.Stat(arg); !isLocal(arg) || err != nil || !st.IsDir() {
			continue
		}
		n, first := 0, ""
		all := inputsBelow(arg, func(at string) bool {
			if !usd.IsName(at) && !taken[at] {
				if n++; n == 1 {
					first = at
				}
			}
			return true
		})
		if n == 0 {
			continue
		}
		many, are := human.Plural(n, "file"), "is"
		if n > 1 {
			are = "are"
		}
		if !all {
			many = "at least " + many
		}
		a.info("note: %s in folders below %s %s left out, such as %s: a folder is read with those right below it at most; name the others as well",
			many, oneLine(arg), are, oneLine(first))
	}
}

// inputsBelow shows what can be cooked in a folder and all below it to a function, until it
// returns false. It returns false where there is too much to look at.
func inputsBelow(dir string, show func(at string) bool) (all bool) {
	left := 10_000                           // of what lies below
	root := dir + string(filepath.Separator) // of a link, the folder
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		left--
		switch {
		case left == 0:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && isInput(d.Name()) && !show(path):
			return fs.SkipAll
		}
		return nil
	})
	return left > 0
}

// withoutParts leaves out the layers of USD that others of the list name: these bring them.
func withoutParts(list []string) []string {
	parts := map[string]bool{}
	for _, at := range list {
		if !usd.IsName(at) {
			continue
		}
		names, _ := usd.Mentions(at) // the import says what is wrong
		for _, n := range names {
			if to := filepath.Join(filepath.Dir(at), filepath.FromSlash(n)); to != at {
				parts[to] = true
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(list), func(at string) bool { return parts[at] })
	if len(left) == 0 {
		return list // in a circle
	}
	return left
}

// readStdin copies the standard input to a file, whose format its first bytes tell.
func readStdin(in io.Reader, dir string) ([]cook.Item, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "stdin-")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.Copy(f, in)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	if n == 0 {
		return nil, &badFile{errors.New("the standard input is empty")}
	}
	head := make([]byte, min(n, 1024))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	name := "stdin" + endingOf(head, n)
	if name == "stdin" {
		return nil, &badFile{errors.New("the standard input is neither glTF, USD, OBJ, PLY nor STL")}
	}
	at := filepath.Join(dir, name)
	if err := os.Rename(f.Name(), at); err != nil {
		return nil, err
	}
	return []cook.Item{{File: name, At: at}}, nil
}

// endingOf tells the format of a file of a size by its first bytes; "" for none.
func endingOf(head []byte, size int64) string {
	text := bytes.TrimLeft(bom.Trim(head), " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("glTF")):
		return ".glb"
	case bytes.HasPrefix(text, []byte("{")):
		return ".gltf"
	case bytes.HasPrefix(head, []byte("#usda ")):
		return ".usda"
	case bytes.HasPrefix(head, []byte("PXR-USDC")):
		return ".usdc"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return ".usdz"
	case bytes.HasPrefix(head, []byte("ply")) && len(head) > 3 && (head[3] == '\n' || head[3] == '\r'):
		return ".ply"
	case bytes.HasPrefix(text, []byte("solid")), meshfile.IsBinarySTL(head, size):
		return ".stl"
	case bytes.IndexByte(head, 0) < 0:
		return ".obj"
	}
	return ""
}

// maxGLTF is the longest .gltf that is searched for names of files, in bytes.
const maxGLTF = 1 << 30

// textOf returns the JSON of a .glb; nothing of one that the import will refuse.
func textOf(at string) ([]byte, error) {
	f, st, err := plainfile.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, _, _, err := glb.Locate(f, st.Size())
	if err != nil || text.Size > maxGLTF {
		return nil, nil
	}
	data := make([]byte, text.Size)
	_, err = f.ReadAt(data, text.Offset)
	return data, err
}

// mentions lists the files that a .gltf, .glb, .obj, .mtl or .ply, or a layer of USD, names,
// relative to its folder.
func mentions(at string) ([]string, error) {
	if usd.IsName(at) {
		return usd.Mentions(at)
	}
	var data []byte
	var err error
	switch strings.ToLower(filepath.Ext(at)) {
	case ".gltf":
		data, err = plainfile.Read(at, maxGLTF)
	case ".glb":
		data, err = textOf(at)
	default:
		return meshfile.Mentions(at)
	}
	if err != nil {
		return nil, err
	}
	type named struct{ URI string }
	var doc struct{ Buffers, Images []named }
	if json.Unmarshal(bom.Trim(data), &doc) != nil {
		return nil, nil // the import says what is wrong
	}
	var out []string
	for _, n := range slices.Concat(doc.Buffers, doc.Images) {
		if n.URI == "" || strings.HasPrefix(n.URI, "data:") || strings.Contains(n.URI, "://") {
			continue
		}
		if plain, err := url.PathUnescape(n.URI); err == nil {
			out = append(out, plain)
		}
	}
	return out, nil
}
