package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// resultFlags name files that commands write when their work is done; checkReports looks at
// those that may be repeated.
var resultFlags = []string{"screenshot", "stats", "events", "frame-log", "plot", "map"}

// checkPlaces refuses, before any work is done, results whose folder is not there.
func checkPlaces(cmd *cobra.Command) error {
	for _, name := range resultFlags {
		f := cmd.Flags().Lookup(name)
		if f == nil || f.Value.Type() != "string" {
			continue
		}
		if err := checkPlace("--"+name, f.Value.String()); err != nil {
			return err
		}
	}
	return nil
}

// checkPlace refuses a file whose folder is not there, is none, or may not be written to;
// what names the flag.
func checkPlace(what, path string) error {
	if path == "" || path == "-" {
		return nil
	}
	dir := filepath.Dir(path)
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %s: the folder %s does not exist", what, oneLine(path), oneLine(dir))
	case err == nil && !st.IsDir(), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %s: %s is no folder", what, oneLine(path), oneLine(dir))
	case err != nil:
		return fmt.Errorf("%s %s: %w", what, oneLine(path), err)
	}
	if isThere(path) { // a device, or a file that may be written where others may not be made
		return nil
	}
	if err := tryFile(dir, ""); err != nil {
		return fmt.Errorf("%s %s: %w", what, oneLine(path), err)
	}
	return nil
}

// tryFile finds out whether a file can be made in a folder, with so much in it. It leaves none.
func tryFile(dir, text string) error {
	f, err := os.CreateTemp(dir, ".untold-*"+atomicfile.TempSuffix)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// isThere reports whether a file has a name.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// checkPlot refuses names that do not say what is in the file.
func checkPlot(path string) error {
	if path != "" && !strings.EqualFold(filepath.Ext(path), ".svg") {
		return fmt.Errorf("--plot is %q; plots are SVG, and its name must end in .svg", path)
	}
	return nil
}

// longestName is how many bytes the name of a file has at most, on nearly all file systems.
const longestName = 255

// checkSceneName refuses names of which no manifest can be called.
func checkSceneName(name string) error {
	if name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("--scene-name is %q; it names a file in the output folder, and is no path", name)
	}
	if len(name+".json") > longestName {
		return fmt.Errorf("--scene-name has %d bytes; the manifest is called that and .json, and names of files have %d bytes at most", len(name), longestName)
	}
	return nil
}

// listenProblem says what is wrong with an address to listen at.
func listenProblem(addr string, err error) error {
	host, port, split := net.SplitHostPort(addr)
	_, unknown := net.LookupPort("tcp", port)
	switch {
	case split != nil, unknown != nil:
		return fmt.Errorf("--addr is %q; write HOST:PORT, such as 127.0.0.1:8080, or :8080 for all of this machine's addresses, with a port from 0 (a free one) to 65535", addr)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--addr %s: another program listens there; end it, or name another port (%s takes a free one)", addr, net.JoinHostPort(host, "0"))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("--addr %s: this machine does not have that address; 127.0.0.1 is for programs on it alone, 0.0.0.0 for all", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("--addr %s: the system does not permit that port; those from 1024 on are for all", addr)
	}
	return fmt.Errorf("--addr %s: %w", addr, err)
}
