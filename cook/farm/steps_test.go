package farm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// kubectl answers from the file "job": complete, failed or gone; a job that is not there
// yet runs for three questions and is complete then.
const kubectl = `#!/bin/sh
echo "$*" >>log
case "$*" in
*"-plan") if [ -e plan ]; then state=failed; else state=complete; fi ;;
*) state=$(cat job 2>/dev/null || if [ "$(wc -l <log)" -gt 4 ]; then echo complete; else echo runs; fi) ;;
esac
case "$*" in
*" get "*) [ "$state" != gone ] ;;
*"wait --for=condition=Complete"*) [ "$state" = complete ] ;;
*"wait --for=condition=Failed"*) [ "$state" = failed ] ;;
esac
`

// TestStepsOfManifest: the commands in a manifest's first lines let the last cook start when
// the shards have ended, with RequireStore when all have succeeded, and never wait for ever.
func TestStepsOfManifest(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		job     string
		require bool
		starts  bool
	}{
		{"complete", false, true},
		{"failed", false, true},
		{"gone", false, true},
		{"", false, true},
		{"complete", true, true},
		{"failed", true, false},
		{"unplanned", false, false},
		{"unplanned", true, false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(kubectl), 0o755); err != nil {
			t.Fatal(err)
		}
		if c.job == "unplanned" {
			testfile.Write(t, filepath.Join(dir, "plan"), "")
		} else if c.job != "" {
			testfile.Write(t, filepath.Join(dir, "job"), c.job)
		}
		j, in := town(), cluster()
		j.RequireStore, in.Namespace = c.require, "maps"
		text, err := Kubernetes(j, in)
		if err != nil {
			t.Fatal(err)
		}
		var steps strings.Builder
		for line := range strings.Lines(text) {
			if step, ok := strings.CutPrefix(line, "#   "); ok {
				steps.WriteString(step)
			}
		}
		cmd := exec.Command(sh, "-c", steps.String())
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		log := string(testfile.Read(t, filepath.Join(dir, "log")))
		const start = `-n maps patch job/untold-town --type=merge -p {"spec":{"suspend":false}}`
		for _, step := range strings.SplitAfter(log, "--timeout=")[1:] {
			if s, _, _ := strings.Cut(step, "s "); s != "1" && s != "20" {
				t.Errorf("%+v: a step waits for %q, however a job ends", c, s)
			}
		}
		if strings.Contains(log, start) != c.starts || !strings.HasPrefix(log, "apply -f THIS_FILE\n") || len(out) > 0 {
			t.Errorf("%+v: %s\n%s", c, out, log)
		}
	}
}
