package farm

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// town is a job with names that mean something to shells, to Kubernetes and to YAML.
func town() Job {
	return Job{
		Command: "untold farm", Program: "untold", Name: "untold-town",
		Scene: `/scenes/it's a "town" $(HOME) $HOME ` + "`id`" + ` \ & ; # {a,b} *.glb`, Out: "/out/a town: #1", Store: "/store/- 'x'",
		Plan: "/out/a plan: $x.plan", Shards: 3, CPUs: 2, Flags: []string{"--payload-dir", "$x '", "--tile-size", "8"},
	}
}

func cluster() Cluster {
	return Cluster{Image: "registry.example.com/untold:1", Volumes: []Volume{{"out", "/out", false}, {"store", "/store", false}, {"scenes", "/scenes", true}}, User: 1000, Group: 1000}
}

// TestRefusals: what cannot be written down, or would be refused later, is refused.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		edit func(j *Job)
		says string
	}{
		{func(j *Job) { j.Scene = "" }, "scene is not named"},
		{func(j *Job) { j.Scene = "a\nb.glb" }, "ends a line"},
		{func(j *Job) { j.Out = "a\u2028b" }, "ends a line"},
		{func(j *Job) { j.Store = "a\u0085b" }, "ends a line"},
		{func(j *Job) { j.Flags = []string{"\x1b[2J"} }, "control character"},
		{func(j *Job) { j.Command = "a\rb" }, "ends a line"},
		{func(j *Job) { j.Out = "-rf" }, "looks like a flag"},
		{func(j *Job) { j.Plan = "--x.plan" }, "ends in .plan"},
		{func(j *Job) { j.Plan = "x.json" }, "ends in .plan"},
		{func(j *Job) { j.Shards = 0 }, "0 shards"},
		{func(j *Job) { j.Shards = MaxShards + 1 }, "10001 shards"},
		{func(j *Job) { j.AtOnce = 4 }, "at a time"},
		{func(j *Job) { j.CPUs = 0 }, "processors"},
		{func(j *Job) { j.Memory = -1 }, "memory"},
		{func(j *Job) { j.Time = -1 }, "time"},
		{func(j *Job) { j.Name = "Town" }, "name"},
		{func(j *Job) { j.Name = strings.Repeat("a", 49) }, "name"},
	} {
		j := town()
		c.edit(&j)
		for kind, write := range map[string]func() (string, error){
			"shell":      func() (string, error) { return Shell(j) },
			"slurm":      func() (string, error) { return Slurm(j, "") },
			"kubernetes": func() (string, error) { return Kubernetes(j, cluster()) },
		} {
			if text, err := write(); err == nil || text != "" || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %q: %v", kind, c.says, err)
			}
		}
	}
	if _, err := Slurm(town(), "a b"); err == nil {
		t.Error("a partition with a blank")
	}
}

func TestClusterRefusals(t *testing.T) {
	for _, c := range []struct {
		edit func(j *Job, c *Cluster)
		says string
	}{
		{func(_ *Job, c *Cluster) { c.Image = "" }, "no image"},
		{func(_ *Job, c *Cluster) { c.Image = "a b" }, "image"},
		{func(_ *Job, c *Cluster) { c.Namespace = "A" }, "namespace"},
		{func(_ *Job, c *Cluster) { c.User = 0 }, "root"},
		{func(_ *Job, c *Cluster) { c.Retries = -1 }, "retries"},
		{func(_ *Job, c *Cluster) { c.Keep = -1 }, "kept"},
		{func(_ *Job, c *Cluster) { c.Secret = "a/b" }, "no name of Kubernetes"},
		{func(_ *Job, c *Cluster) { c.Volumes[0].Claim = "" }, "claim"},
		{func(_ *Job, c *Cluster) { c.Volumes[0].Path = "out" }, "claim"},
		{func(_ *Job, c *Cluster) { c.Volumes[0].Path = "/tmp" }, "/tmp"},
		{func(_ *Job, c *Cluster) { c.Volumes[1].Path = "/out" }, "two claims"},
		{func(_ *Job, c *Cluster) { c.Volumes[0].ReadOnly = true }, "read only"},
		{func(j *Job, _ *Cluster) { j.Scene = "city.glb" }, "from / on"},
		{func(j *Job, _ *Cluster) { j.Out = "/outside" }, "no volume"},
		{func(j *Job, _ *Cluster) { j.Plan = "/outside.plan" }, "no volume"},
		{func(j *Job, _ *Cluster) { j.Out = "/out/../x" }, "no volume"},
		{func(j *Job, _ *Cluster) { j.Out = "s3://bucket/out" }, "no volume"},
		{func(j *Job, _ *Cluster) { j.Scene = "/scenes/\xff.glb" }, "UTF-8"},
	} {
		j, in := town(), cluster()
		c.edit(&j, &in)
		if _, err := Kubernetes(j, in); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.says, err)
		}
	}
}

func TestNameOf(t *testing.T) {
	for scene, want := range map[string]string{
		"city.glb": "untold-city", "/a/The City (2).gltf": "untold-the-city-2", `C:\a\x.glb`: "untold-x", "Straße.glb": "untold-stra-e", "日本.glb": "untold", "": "untold",
		strings.Repeat("long ", 20) + ".glb": "untold-long-long-long-long-long-long-long-long-l",
	} {
		if got := NameOf(scene); got != want || !jobName.MatchString(got) || len(got) > maxName {
			t.Errorf("%q: %q, not %q", scene, got, want)
		}
	}
}

// TestSlurmTime: days, hours, minutes and seconds.
func TestSlurmTime(t *testing.T) {
	for d, want := range map[int64]string{
		1: "00:00:01", 90 * 60: "01:30:00", 49*3600 + 1: "2-01:00:01", 24 * 3600: "1-00:00:00",
	} {
		if got := slurmTime(d); got != want {
			t.Errorf("%d: %s, not %s", d, got, want)
		}
	}
}

// TestLineIsReadBack: a shell reads the words that were written.
func TestLineIsReadBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	text := rapid.OneOf(rapid.StringMatching("[ -~]{0,12}"), rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("'\"\\$`!~#*?[]{}()<>|&; a-=%")), 0, 12, -1))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(text.Filter(func(s string) bool { return !strings.ContainsAny(s, "\x00\n") }), 1, 6).Draw(t, "words")
		out, err := exec.Command(sh, "-c", `for w in `+Line(words...)+`; do printf '%s\n' "$w"; done`).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, words) {
			t.Errorf("%q became %q", words, got)
		}
	})
}

// expand is what Kubernetes makes of a word of a command: $$ is $, $(NAME) a variable.
func expand(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '$' && i+1 < len(s) {
			switch s[i+1] {
			case '$':
				i++
			case '(':
				if end := strings.IndexByte(s[i:], ')'); end > 0 {
					b.WriteString("<variable>")
					i += end
					continue
				}
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// TestArgumentIsReadBack: YAML and Kubernetes read the word that was written.
func TestArgumentIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("$() \\\"'#:-{}&*!%@\u00a0\ufffe😀\u200b")), 0, 12, -1)).Draw(t, "word")
		var list []string
		if err := yaml.Unmarshal([]byte("- "+argument(want)+"\n"), &list); err != nil {
			t.Fatalf("%s: %v", argument(want), err)
		}
		if len(list) != 1 || expand(list[0]) != want {
			t.Errorf("%q became %q", want, list)
		}
	})
}

// TestCommandsInManifest: the words of both cooks come through, with names that mean
// something to all that read them.
func TestCommandsInManifest(t *testing.T) {
	j := town()
	text, err := Kubernetes(j, cluster())
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{append(j.plan(), "--jobs", "2"), append(j.shard("auto"), "--jobs", "2"), append(j.last(), "--jobs", "2")}
	for dec := yaml.NewDecoder(strings.NewReader(text)); len(want) > 0; want = want[1:] {
		var doc struct {
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Command []string } }
				}
			}
		}
		if err := dec.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range doc.Spec.Template.Spec.Containers[0].Command {
			got = append(got, expand(w))
		}
		if !slices.Equal(got, want[0]) {
			t.Errorf("%q\nbecame %q", want[0], got)
		}
	}
}

// TestScriptsParse: shells take the scripts, and what is in them for Slurm.
func TestScriptsParse(t *testing.T) {
	for _, require := range []bool{false, true} {
		j := town()
		j.RequireStore, j.AtOnce, j.Memory, j.Time = require, 2, 1<<30+1, 3600
		steps := 3
		if require {
			j.Plan, steps = "", 2
		}
		script, err := Shell(j)
		if err != nil {
			t.Fatal(err)
		}
		batch, err := Slurm(j, "a,b")
		if err != nil {
			t.Fatal(err)
		}
		scripts := []string{script, batch}
		for _, part := range strings.Split(batch, "<<'EOF'\n")[1:] {
			inner, _, ok := strings.Cut(part, "\nEOF\n")
			if !ok || !strings.HasPrefix(inner, "#!/bin/sh\n#SBATCH ") || !strings.Contains(inner, "--mem=1025M") {
				t.Errorf("a batch script is %q", inner)
			}
			scripts = append(scripts, inner+"\n")
		}
		if len(scripts) != 2+steps {
			t.Errorf("%d scripts", len(scripts))
		}
		for _, shell := range []string{"sh", "dash", "bash"} {
			at, err := exec.LookPath(shell)
			if err != nil {
				continue
			}
			for _, s := range scripts {
				cmd := exec.Command(at, "-n")
				cmd.Stdin = strings.NewReader(s)
				if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
					t.Errorf("%s -n: %v: %s\n%s", shell, err, out, s)
				}
			}
		}
	}
}
