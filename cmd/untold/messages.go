package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/human"
)

// messageFor is the text of an error for users of the command: the words of the
// libraries below are replaced where they speak to programmers.
func messageFor(err error) string {
	s := groupSentence(oneLine(suggestion(err.Error())))
	s = optionBeside.ReplaceAllString(flagNames.Replace(s), "$1")
	s = stateOfFile.Replace(systemProblem(err, networkProblem(err, s)))
	return withoutTwins(badOption.ReplaceAllString(withoutPackages(s), "$1"))
}

// stateOfFile makes a sentence of a file's name and what is said of it.
var stateOfFile = strings.NewReplacer(
	": does not exist", " does not exist", ": may not be read (", " may not be read (",
	": cannot be read: is not a regular file", " is a folder, a pipe or a device, not a regular file",
	": cannot be read: "+syscall.ELOOP.Error(), leadsBack,
	": cannot be read: "+syscall.ENAMETOOLONG.Error(), tooLong,
)

// What is said of the names of files.
const (
	leadsBack = " is a symbolic link that leads back to itself"
	tooLong   = " is longer than names may be: choose a shorter one"
)

// flagNames turns advice for callers of the library into advice for users.
var flagNames = strings.NewReplacer(
	"Options.AllowParentPaths", "--allow-parent-paths",
	"Options.AllowMissingImages", "--allow-missing-images",
	"raise Options.MaxDecodedBytes if the file is sound", "hardly any sound file unpacks to so much more than its size: export it again, or in parts",
	"raise Options.MaxFileBytes", "export the scene in parts",
	"raise Options.MaxMeshBytes", "raise --memory",
	"Options.MaxTriangles", "--max-triangles",
	"Options.Instances", "--instances",
	"Options.TileSize", "--tile-size",
	"Options.Clip", "--clip=false",
)

// optionBeside is the name of an option in brackets, or beside its flag.
var optionBeside = regexp.MustCompile(` \(Options\.[A-Z]\w+\)|(--[a-z-]+), Options\.[A-Z]\w+`)

// packageName is the name of a package of this module, or of one that it calls,
// at the start of a message. TestNoPackageNames holds the list complete.
var packageName = regexp.MustCompile(`(^|: )(?:(?:astc|atomicfile|basisu|batch|bc|camera|cook|cube|decoder|diff|diskcache|draco|farm|format|glbwrite|goschema|gltfexport|gltfscene|hud|imagediff|ktx2|lz4|manifest|mesh|meshfile|meshopt|partition|preview|manifestbuild|remote|render|report|runtime|scenecheck|serve|simplify|simulate|surface|texture|tiles3d|tune|untold|usd|utex|verify|zstd): )+`)

// withoutPackages takes the names of packages off the parts of a message.
func withoutPackages(s string) string { return packageName.ReplaceAllString(s, "$1") }

// badOption is the kind of an error, in front of what says the same with the value.
var badOption = regexp.MustCompile(`(^|: )bad option: `)

// withoutTwins says a file's name once where two layers have put it in front.
func withoutTwins(s string) string {
	head, rest, ok := strings.Cut(s, ": ")
	for ok && strings.HasPrefix(rest, head+": ") {
		s = rest
		head, rest, ok = strings.Cut(s, ": ")
	}
	return s
}

// systemProblem replaces what the system says of a file by a sentence, where it has one
// that says what to do.
func systemProblem(err error, s string) string {
	var p *fs.PathError
	if !errors.As(err, &p) || p.Path == "" {
		return s
	}
	// A temporary file says nothing to anybody: its folder does.
	folder, temporary := oneLine(filepath.Dir(p.Path)), strings.HasSuffix(p.Path, atomicfile.TempSuffix)
	path, call := oneLine(p.Path), oneLine(p.Error())
	if at := (*publish.PlaceError)(nil); errors.As(err, &at) {
		call = oneLine(at.Error()) // has the same file in it
		// Nor do the files that a scene is published as.
		if at.Op == "put" && (errors.Is(p.Err, syscall.ENOSPC) || errors.Is(p.Err, syscall.EROFS)) {
			folder, path, temporary = oneLine(at.Place), oneLine(at.Place), false
		}
	}
	switch {
	case temporary && errors.Is(p.Err, fs.ErrNotExist):
		return strings.Replace(s, call, "the folder "+folder+" does not exist", 1)
	case temporary && errors.Is(p.Err, fs.ErrPermission):
		return strings.Replace(s, call, "nothing may be written to the folder "+folder+" (permission denied)", 1)
	case temporary && errors.Is(p.Err, syscall.EROFS):
		return strings.Replace(s, call, "the folder "+folder+" is on a disk that is read-only: name a place on another one", 1)
	case p.Path == os.Stdout.Name() && errors.Is(p.Err, syscall.ENOSPC):
		return strings.Replace(s, call, "standard output: no space is left where it goes", 1)
	case errors.Is(p.Err, fs.ErrNotExist):
		return strings.Replace(s, call, path+" does not exist", 1)
	case errors.Is(p.Err, fs.ErrPermission):
		return strings.Replace(s, call, path+" may not be read or written (permission denied)", 1)
	case errors.Is(p.Err, syscall.ENOSPC):
		return strings.Replace(s, call, "no space is left on the disk of "+folder+": make room there, or name a place on another disk", 1)
	case errors.Is(p.Err, syscall.EROFS):
		return strings.Replace(s, call, path+" is on a disk that is read-only: name a place on another one", 1)
	case errors.Is(p.Err, syscall.ENAMETOOLONG):
		return strings.Replace(s, call, path+tooLong, 1)
	case errors.Is(p.Err, syscall.ELOOP):
		return strings.Replace(s, call, path+leadsBack, 1)
	}
	return s
}

// unknownCommand is what cobra says of a first word that is no command.
var unknownCommand = regexp.MustCompile(`^unknown command ("(?:[^"\\]|\\.)*") for "([^"]*)"(?s:\s+Did you mean this\?\n(.*))?$`)

// suggestion says that in our words, cobra's list of similar commands in the same line.
func suggestion(s string) string {
	m := unknownCommand.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	near := strings.Fields(m[3])
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	mean := ""
	if len(near) > 0 {
		mean = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return noCommandText(m[1], m[2], mean)
}

// noCommandText says of a quoted word that it is no command below another.
func noCommandText(name, parent, mean string) string {
	return fmt.Sprintf("there is no command %s in %s%s (see %[2]s --help)", name, parent, mean)
}

// noCommand is the error of a word that is none of a command's own.
func noCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return errors.New(noCommandText(strconv.Quote(name), cmd.CommandPath(), nearestOf(name, names)))
}

// ownHelp makes untold help refuse what is no command.
func ownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help.Run == nil {
		return
	}
	show := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		at := root
		for _, name := range args {
			i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
			if i < 0 && at.HasSubCommands() {
				return noCommand(at, name)
			}
			if i < 0 {
				break // an argument of the command
			}
			at = at.Commands()[i]
		}
		show(cmd, args)
		return nil
	}
}

// flagProblem says in our words what is wrong with a flag on the command line.
func flagProblem(cmd *cobra.Command, err error) error {
	see := fmt.Sprintf(" (see %s --help)", cmd.CommandPath())
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var syntax *pflag.InvalidSyntaxError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return fmt.Errorf("%w%s", valueProblem("--"+f.Name, f, invalid.GetValue(), invalid.Unwrap()), see)
	case errors.As(err, &bare):
		return fmt.Errorf("--%s needs a value%s", bare.GetFlag().Name, see)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		file := ""
		if name := "-" + unknown.GetSpecifiedShortnames(); isThere(name) {
			file = "; the file is ./" + oneLine(name)
		}
		return fmt.Errorf("there is no flag -%s%s%s", unknown.GetSpecifiedName(), file, see)
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		return fmt.Errorf("there is no flag --%s%s%s", name, nearest(cmd, name), see)
	case errors.As(err, &syntax):
		return fmt.Errorf("%q is no flag%s", syntax.GetSpecifiedFlag(), see)
	}
	return fmt.Errorf("%w%s", err, see)
}

// valueProblem says why a value is refused; what names the flag, the variable or
// the key that has it. Errors of strconv become a sentence about the flag's type;
// others are ours and say themselves what is wanted.
func valueProblem(what string, f *pflag.Flag, value string, err error) error {
	var n *strconv.NumError
	if f.Value.Type() == "duration" {
		return fmt.Errorf("%s is %q, which is no time: write 50ms, 2s or 1h", what, value)
	}
	if !errors.As(err, &n) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if errors.Is(n, strconv.ErrRange) {
		return fmt.Errorf("%s is %q: the number is too large or too small", what, value)
	}
	switch f.Value.Type() {
	case "bool":
		return fmt.Errorf("%s is %q; use true or false", what, value)
	case "int", "int64":
		return fmt.Errorf("%s is %q, which is not a whole number", what, value)
	case "uint", "uint64":
		return fmt.Errorf("%s is %q, which is not a whole number from 0 on", what, value)
	}
	return fmt.Errorf("%s is %q, which is not a number", what, value)
}

// ownArguments makes every command below root say in our words how many
// arguments it takes, and refuse subcommands that do not exist. A command that
// only has others shows its help.
func ownArguments(root *cobra.Command, a *app) {
	for _, c := range root.Commands() {
		ownArguments(c, a)
		if c.HasSubCommands() && !c.Runnable() {
			c.DisableFlagsInUseLine = true
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		check := c.Args
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := twoWords(cmd, a.args, args); err != nil {
				return err
			}
			own := args
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				own = args[:n] // behind -- may be flags of another command, with empty values
			}
			if wanted := operands(cmd); slices.Contains(own, "") && argumentName(cmd) != "" {
				for _, w := range strings.Fields(cmd.Use)[1+len(wanted):] { // what may be left out
					if strings.HasPrefix(strings.Trim(w, "["), "-") || w == "[flags]" || w == "|" {
						break
					}
					wanted = append(wanted, strings.Trim(w, "[]"))
				}
				return fmt.Errorf("an argument is empty where %s is wanted: is a variable not set? (see %s --help)", strings.Join(wanted, " or "), cmd.CommandPath())
			}
			switch {
			case cmd.HasSubCommands() && len(args) > 0:
				return noCommand(cmd, args[0])
			case check == nil || check(cmd, args) == nil:
				return nil
			case len(args) == 0:
				return fmt.Errorf("no %s was given: %s (see %s --help)", argumentName(cmd), cmd.UseLine(), cmd.CommandPath())
			case len(operands(cmd)) > 1:
				return fmt.Errorf("%s takes %s, not %s (see %[1]s --help)", cmd.CommandPath(), strings.Join(operands(cmd), " and "), human.Plural(len(args), "argument"))
			case argumentName(cmd) == "":
				return fmt.Errorf("%s takes no argument, not %q (see %[1]s --help)", cmd.CommandPath(), args[0])
			}
			return fmt.Errorf("%s takes one %s, not %d (see %[1]s --help)", cmd.CommandPath(), argumentName(cmd), len(args))
		}
	}
}

// twoWords refuses an argument that is no file, and a value of the flag before it on the
// command line: one that may stand without a value takes none that is a word of its own.
func twoWords(cmd *cobra.Command, line, args []string) error {
	for i := 1; i < len(line); i++ {
		name, isFlag := strings.CutPrefix(line[i-1], "--")
		if line[i-1] == "--" {
			return nil // what follows are arguments
		}
		f := cmd.Flags().Lookup(name)
		if !isFlag || f == nil || f.NoOptDefVal == "" || !slices.Contains(args, line[i]) {
			continue
		}
		values := words("true false")
		if f.Value.Type() != "bool" {
			values, _ = about(flagValues, cmd, name)
		}
		if values == nil || !slices.Contains(values(), line[i]) {
			continue
		}
		if _, err := os.Lstat(line[i]); err != nil {
			return fmt.Errorf("--%s %s is taken for the flag and a file %[2]s, which does not exist: write --%[1]s=%[2]s", name, line[i])
		}
	}
	return nil
}

// operands are the arguments that a command's usage line begins with.
func operands(cmd *cobra.Command) (out []string) {
	for _, w := range strings.Fields(cmd.Use)[1:] {
		if strings.ContainsAny(w, "-[") || w == "|" {
			break
		}
		out = append(out, strings.TrimSuffix(w, "..."))
	}
	return out
}

// argumentName is the name of a command's first argument in its usage line.
func argumentName(cmd *cobra.Command) string {
	words := strings.Fields(cmd.Use)
	if len(words) < 2 || strings.HasPrefix(words[1], "-") || words[1] == "[flags]" {
		return ""
	}
	return strings.Trim(words[1], "[].")
}

// negativeCounts refuses numbers below 0 of flags that count something, before a command looks
// at what they are for.
func negativeCounts(cmd *cobra.Command) error {
	for _, count := range []struct{ name, use string }{{"jobs", "1 or more, or leave it out"}, {"limit", "0 for all, or more"}} {
		f := cmd.Flags().Lookup(count.name)
		if f == nil {
			continue
		}
		if n, err := strconv.Atoi(f.Value.String()); err == nil && n < 0 {
			return fmt.Errorf("--%s is %d; use %s", count.name, n, count.use)
		}
	}
	return nil
}

// groupProblem is what cobra says of flags that exclude or need each other.
var groupProblem = regexp.MustCompile(`^if any flags in the group \[([^\]]*)\] are set (none of the others can be|they must all be set); (?:\[([^\]]*)\] were all set|missing \[([^\]]*)\])$`)

// groupSentence says that in our words.
func groupSentence(s string) string {
	m := groupProblem.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	flags := func(names, joint string) string {
		list := strings.Fields(names)
		for i := range list {
			list[i] = "--" + list[i]
		}
		if len(list) < 2 {
			return strings.Join(list, "")
		}
		return strings.Join(list[:len(list)-1], ", ") + joint + list[len(list)-1]
	}
	if m[3] != "" {
		return fmt.Sprintf("%s exclude each other: give one of %s", flags(m[3], " and "), flags(m[1], " and "))
	}
	return fmt.Sprintf("%s go together: %s is missing", flags(m[1], " and "), flags(m[4], " and "))
}

// requiredFlags reports a flag that a command cannot do without, with the
// command's usage.
func requiredFlags(cmd *cobra.Command) error {
	var missing error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if missing == nil && !f.Changed && len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0 {
			missing = fmt.Errorf("--%s is missing: %s (see %s --help)", f.Name, cmd.UseLine(), cmd.CommandPath())
		}
	})
	return missing
}
