// Package farm writes the scripts that cook a scene on many machines: every shard makes its
// share of the tiles and puts it into a store that all of them reach, and a last cook takes
// what is there, makes what is missing and writes the scene. Nothing here runs anything.
package farm

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxShards is the greatest number of shards of a job.
const MaxShards = 10_000

// maxName is the length that leaves room in 63 characters, a host's name, for
// "-shards-" and the number of a pod.
const maxName = 48

// Job is a scene and how it is cooked by many. Texts must not hold control characters or
// separators of lines; all else is quoted.
type Job struct {
	Command string // how the user asked for this, for the script's first line; "" is none
	Program string // untold, as the machines find it
	Name    string // of the job: a-z, 0-9 and hyphens, at most 48, a letter first

	Scene, Out, Store string
	Shards            int      // 1 to MaxShards
	Flags             []string // flags of untold cook, of all steps
	// Plan is the file that a first step writes, which all machines reach, so that shards and
	// the last cook need not plan; it ends in .plan. "" is none: each plans for itself.
	Plan string

	// RequireStore makes it an error that a shard failed. Otherwise the last cook makes
	// what shards have not.
	RequireStore bool

	CPUs   int   // of a shard and of the last cook, at least 1
	Memory int64 // bytes of a shard and of the last cook, 0 for what the system gives
	Time   int64 // seconds, the longest that a shard or the last cook may take, 0 for what the system gives
	AtOnce int   // shards at a time, 0 for all
}

var jobName = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// check refuses what cannot be written down.
func (j *Job) check() error {
	for _, t := range []struct{ what, text string }{{"the scene", j.Scene}, {"the output folder", j.Out}, {"the store", j.Store}, {"the program", j.Program}} {
		if t.text == "" {
			return fmt.Errorf("farm: %s is not named", t.what)
		}
		if strings.HasPrefix(t.text, "-") {
			return fmt.Errorf("farm: %s is %q, which looks like a flag: write ./%s", t.what, t.text, t.text)
		}
	}
	if strings.HasPrefix(j.Plan, "-") || j.Plan != "" && path.Ext(j.Plan) != ".plan" {
		return fmt.Errorf("farm: the plan is %q; it is a file whose name ends in .plan", j.Plan)
	}
	for _, text := range append([]string{j.Scene, j.Out, j.Store, j.Program, j.Command, j.Plan}, j.Flags...) {
		if strings.ContainsFunc(text, unwritable) {
			return fmt.Errorf("farm: %q has a control character or ends a line, which no script can hold: choose another name", text)
		}
	}
	switch {
	case j.Shards < 1 || j.Shards > MaxShards:
		return fmt.Errorf("farm: %d shards; there can be 1 to %d", j.Shards, MaxShards)
	case j.CPUs < 1:
		return fmt.Errorf("farm: %d processors; a shard needs one", j.CPUs)
	case j.Memory < 0, j.Time < 0:
		return errors.New("farm: memory and time are 0, for no bound, or more")
	case j.AtOnce < 0 || j.AtOnce > j.Shards:
		return fmt.Errorf("farm: %d shards at a time; there can be 1 to %d, or 0 for all", j.AtOnce, j.Shards)
	case !jobName.MatchString(j.Name) || len(j.Name) > maxName:
		return fmt.Errorf("farm: the name %q is not of a-z, 0-9 and hyphens, a letter first and no hyphen last, at most %d", j.Name, maxName)
	}
	return nil
}

// unwritable are runes that end a line for a shell or for YAML, or cannot be seen.
func unwritable(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == '\ufeff'
}

// NameOf proposes a job's name for a scene.
func NameOf(scene string) string {
	base := path.Base(strings.ReplaceAll(scene, `\`, "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	var b strings.Builder
	b.WriteString("untold")
	hyphen := true // one is due before the next letter
	for _, r := range strings.ToLower(base) {
		if r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9') {
			if hyphen {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			hyphen = false
		} else {
			hyphen = true
		}
	}
	return strings.TrimRight(b.String()[:min(b.Len(), maxName)], "-")
}

// plan are the words that write the plan.
func (j *Job) plan() []string {
	return append([]string{j.Program, "cook", j.Scene, "--store", j.Store, "--dry-run", "--plan", j.Plan}, j.Flags...)
}

// follow are the words by which a cook follows the plan, if there is one, and the flags.
func (j *Job) follow() (words []string) {
	if j.Plan != "" {
		words = append(words, "--plan", j.Plan)
	}
	return append(words, j.Flags...)
}

// shard are the words that cook a share; which says whose.
func (j *Job) shard(which string) []string {
	return append([]string{j.Program, "cook", j.Scene, "--store", j.Store, "--shard", which}, j.follow()...)
}

// last are the words of the cook that takes the shards together.
func (j *Job) last() []string {
	words := []string{j.Program, "cook", j.Scene, "-o", j.Out, "--store", j.Store}
	if j.RequireStore {
		words = append(words, "--require-store")
	}
	return append(words, j.follow()...)
}

// numbered is a shard's I/N.
func (j *Job) numbered(i int) string { return strconv.Itoa(i) + "/" + strconv.Itoa(j.Shards) }

// header is the line with the command that has made a script.
func (j *Job) header() string {
	if j.Command == "" {
		return ""
	}
	return "# " + j.Command + "\n"
}
