package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/doctor"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/surface"
)

// askGraphics is the hidden flag of doctor by which one program asks another one,
// or itself, what OpenGL says: a driver that crashes ends that one alone.
const askGraphics = "opengl-json"

// graphicsJSON is the answer.
type graphicsJSON struct {
	Program string `json:"program"` // its version
	doctor.Graphics
	Error string `json:"error,omitempty"`
}

func printGraphics(w io.Writer) error {
	d, err := surface.Describe()
	answer := graphicsJSON{version, doctor.Graphics{Vendor: d.Vendor, Renderer: d.Renderer, Version: d.Version}, ""}
	if err != nil {
		answer.Error = err.Error()
	}
	return json.NewEncoder(w).Encode(answer)
}

// previewFacts finds the program with the preview, and what OpenGL says to it.
func previewFacts(ctx context.Context) (path string, g doctor.Graphics, noPreview, noGraphics error) {
	if preview.Available {
		if path, noPreview = os.Executable(); noPreview != nil {
			return "", g, noPreview, nil
		}
	} else if path, noPreview = findPreview(); noPreview != nil {
		return "", g, errors.New("there is no " + previewProgram + " beside this program or in the PATH"), nil
	}
	answer, err := ask(ctx, path)
	switch {
	case err != nil:
		return path, g, nil, err
	case answer.Program != version:
		return path, g, fmt.Errorf("%s is of version %s, this program of %s", path, oneLine(answer.Program), version), nil
	case answer.Error != "":
		return path, g, nil, errors.New(answer.Error)
	}
	return path, answer.Graphics, nil, nil
}

// ask runs a program to hear what OpenGL says to it.
func ask(ctx context.Context, path string) (answer graphicsJSON, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "doctor", "--"+askGraphics)
	cmd.Env = append(os.Environ(), previewGuard+"=1", "UNTOLD_CONFIG=")
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return answer, errors.New("the driver did not answer within 30 s")
		}
		said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return answer, fmt.Errorf("%s could not be asked: %w: %s", path, err, said)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return answer, fmt.Errorf("%s answers something else than its graphics: is it of another version?", path)
	}
	return answer, nil
}

// displayFacts finds the display for a window and sees whether it answers, where
// that is a socket of this machine.
func displayFacts(ctx context.Context, getenv func(string) string, goos string) (name string, err error) {
	if goos == "windows" || goos == "darwin" {
		return "the system's", nil
	}
	x, wayland := getenv("DISPLAY"), getenv("WAYLAND_DISPLAY")
	socket := ""
	switch {
	case x != "":
		name = x
		if number, ok := strings.CutPrefix(x, ":"); ok {
			number, _, _ = strings.Cut(number, ".")
			socket = "/tmp/.X11-unix/X" + number
		}
	case wayland != "":
		name, socket = wayland, wayland
		if !filepath.IsAbs(socket) {
			socket = filepath.Join(getenv("XDG_RUNTIME_DIR"), wayland)
		}
	default:
		return "", errors.New("there is none: DISPLAY and WAYLAND_DISPLAY are not set")
	}
	if socket == "" {
		return name, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil && strings.HasPrefix(socket, "/tmp/.X11-unix/") {
		// X servers on Linux also listen without a file.
		c, err = new(net.Dialer).DialContext(ctx, "unix", "@"+socket)
	}
	if err != nil {
		return name, err
	}
	return name, c.Close()
}
