//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/testfile"
	"golang.org/x/sys/unix"
)

// TestInputsArePlainFiles: whatever is read may be a pipe that nobody writes
// to, or a device without an end. No command waits for one or reads the other.
func TestInputsArePlainFiles(t *testing.T) {
	made := cooked(t)
	manifest := filepath.Join(made, "yard.json")
	// The texts have %s where the special file stands; the folder holds what
	// cook and others look for by its name.
	commands := []string{
		"cook DIR/in.glb -o DIR/out",
		"cook DIR/in.gltf -o DIR/out",
		"cook DIR/in.obj -o DIR/out",
		"cook DIR/in.csv -o DIR/out",
		"convert DIR/in.gltf -o DIR/out.untold",
		"cook YARD --config DIR/untold.yaml -o DIR/out",
		"cook DIR/scene.gltf -o DIR/out", // its buffer is the special file
		"cook DIR/yard.gltf -o DIR/out",  // untold.yaml is
		"simulate DIR/yard.json",
		"simulate MANIFEST --camera-path DIR/in.json",
		"simulate MANIFEST --config DIR/untold.yaml",
		"inspect DIR/in.json",
		"inspect DIR/in.untold",
		"inspect DIR/in.utex",
		"validate DIR/in.json",
		"validate DIR/in.untold",
		"validate DIR/in.utex",
		"export DIR/in.json -o DIR/out.glb",
		"export DIR/in.untold -o DIR/out.glb",
		"manifest bands DIR/in.json",
		"manifest normalize DIR/in.json",
		"manifest build MADE --from DIR/in.json",
		"manifest build DIR/in.untold",
	}
	scene := strings.Replace(string(boxScene(1)), `"uri":"data:`, `"uri":"in.bin","was":"data:`, 1)
	for _, special := range []string{"pipe", "/dev/zero"} {
		dir := t.TempDir()
		for _, name := range []string{"in.glb", "in.gltf", "in.obj", "in.csv", "in.json", "in.untold", "in.utex", "in.bin", profileName, "yard.json"} {
			path := filepath.Join(dir, name)
			var err error
			if special == "pipe" {
				err = unix.Mkfifo(path, 0o600)
			} else {
				err = os.Symlink(special, path)
			}
			if err != nil {
				t.Skip(err)
			}
		}
		for name, text := range map[string]string{"scene.gltf": scene, "yard.gltf": string(boxScene(1))} {
			testfile.Write(t, filepath.Join(dir, name), text)
		}
		for _, line := range commands {
			if strings.Contains(line, "scene.gltf") {
				os.Remove(filepath.Join(dir, profileName))
			}
			r := executeFor(t, strings.Fields(strings.NewReplacer("DIR", dir, "YARD", yard(t), "MANIFEST", manifest, "MADE", made).Replace(line))...)
			said := r.stdout + r.err
			refused := strings.Contains(said, "regular file") || strings.Contains(said, "plain file") ||
				special != "pipe" && strings.Contains(said, "link") && strings.Contains(said, "leaves") // whatever it leads to
			if r.code < 1 || !refused {
				t.Errorf("%s with %s: exit %d: %s%s", line, special, r.code, r.stdout, r.err)
			}
			if strings.Contains(line, "scene.gltf") {
				if special == "pipe" {
					_ = unix.Mkfifo(filepath.Join(dir, profileName), 0o600)
				} else {
					_ = os.Symlink(special, filepath.Join(dir, profileName))
				}
			}
		}
		// A folder is searched past them.
		for _, line := range []string{"validate DIR", "inspect DIR", "serve DIR/in.json"} {
			if r := executeFor(t, strings.Fields(strings.ReplaceAll(line, "DIR", dir))...); r.code < 1 {
				t.Errorf("%s with %s: exit %d: %s%s", line, special, r.code, r.stdout, r.err)
			}
		}
	}
}

// hangs is how long no command takes, on a machine that has much else to do.
const hangs = 10 * time.Minute

// executeFor is execute with an end: a command that hangs is stopped and has
// the exit code -1.
func executeFor(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, underTest(t), args...)
	// What reads without end is stopped before it takes the machine's memory.
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=1GiB")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}
