package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote"
)

// remoteFlags are the flags of commands that take the address of a scene in the
// place of a path.
type remoteFlags struct {
	cacheDir    string
	cacheBudget byteSize
	insecure    bool
	ranges      rangesFlag
	maxManifest byteSize

	// Of commands that keep nothing:
	maxDownload byteSize
	maxFiles    int
	timeout     time.Duration
}

// What a visit may take unless told otherwise: more than any scene known, and less
// than the disk of a build machine.
const (
	visitBytes = 20_000_000_000
	visitFiles = 100_000
	visitTime  = time.Hour
)

// rangesFlag says whether payloads are read in parts: auto or off.
type rangesFlag remote.RangePolicy

// String returns the policy.
func (r *rangesFlag) String() string { return string(*r) }

// Type names the value in help texts.
func (r *rangesFlag) Type() string { return "auto|off" }

// Set reads a policy.
func (r *rangesFlag) Set(s string) error {
	switch p := remote.RangePolicy(s); p {
	case remote.RangesAuto, remote.RangesOff:
		*r = rangesFlag(p)
		return nil
	}
	return fmt.Errorf("%q is neither auto nor off", s)
}

// register adds all of them: for commands that stream.
func (r *remoteFlags) register(f *pflag.FlagSet) {
	f.StringVar(&r.cacheDir, "cache-dir", "", "folder of the disk cache for remote scenes (default: untold in the user's cache folder)")
	f.Var(&r.cacheBudget, "cache-budget", "size of the disk cache, such as 500M or 2G (default 500M)")
	r.ranges = rangesFlag(remote.RangesAuto)
	f.Var(&r.ranges, "ranges", "fetch only the parts that are wanted of uncompressed tiles that stream mesh by mesh, or off: whole files")
	r.registerCommon(f)
}

// registerVisit adds those of commands that keep nothing.
func (r *remoteFlags) registerVisit(f *pflag.FlagSet) {
	f.Var(&r.maxDownload, "max-download", "most bytes that are read from servers in all (default 20G)")
	f.DurationVar(&r.timeout, "timeout", visitTime, "most time that reading from servers may take in all, 0 for no limit")
	r.registerCommon(f)
}

func (r *remoteFlags) registerCommon(f *pflag.FlagSet) {
	f.Var(&r.maxManifest, "max-manifest", "largest manifest that is read from a server (default 256MiB)")
	f.BoolVar(&r.insecure, "allow-insecure-http", false, "allow plain http to other machines than this one")
}

// options returns what a Fetcher is made with. Flags win over the parameters of
// a profile.
func (r *remoteFlags) options(a *app, cfg *config.Config) remote.Options {
	o := remote.Options{
		CacheDir: cfg.Cache.Dir, CacheBudget: int64(cfg.Cache.Budget), HTTP: cfg.HTTP,
		AllowInsecureHTTP: r.insecure, MaxManifest: int64(r.maxManifest), UserAgent: "untold/" + version, Ranges: remote.RangePolicy(r.ranges),
	}
	o.TexturesOnDemand = o.Ranges != remote.RangesOff
	if r.cacheDir != "" {
		o.CacheDir = r.cacheDir
	}
	o.CacheBudget = r.cacheBudget.or(o.CacheBudget)
	if a.verbose {
		o.Logger = slog.New(slog.NewTextHandler(a.stderr, nil))
	}
	return o
}

// remoteScene is an open scene at an address.
type remoteScene struct {
	*remote.Fetcher
	Manifest remote.Manifest
	Name     string // of the manifest's file, for titles
}

// openRemote opens the manifest at an address. Its File and Base go into a
// runtime.Source, the Fetcher into runtime.Deps. Close it.
func (r *remoteFlags) openRemote(ctx context.Context, a *app, address string, cfg *config.Config) (*remoteScene, error) {
	f, err := remote.New(r.options(a, cfg))
	if err != nil {
		return nil, err
	}
	m, err := f.OpenManifest(ctx, address)
	if err != nil {
		return nil, errors.Join(explainRemote(err), f.Close())
	}
	if m.Stale {
		a.info("%s the server does not answer; %s is the copy of an earlier time", a.paint(yellow, "warning:"), oneLine(remote.Redact(address)))
	}
	return &remoteScene{Fetcher: f, Manifest: m, Name: nameOf(address)}, nil
}

// nameOf returns the file name of an address.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return remote.Redact(address)
	}
	return path.Base(u.Path)
}

// explainRemote adds the flag that allows what was refused.
func explainRemote(err error) error {
	if errors.Is(err, remote.ErrInsecure) && !strings.Contains(err.Error(), "--allow-insecure-http") {
		return fmt.Errorf("%w; use https, or --allow-insecure-http", err)
	}
	return err
}

// byteSize is a flag in bytes.
type byteSize int64

// byteUnits maps suffixes, in upper case, to bytes: the letters alone are
// decimal, as in all of this program.
var byteUnits = []struct {
	name  string
	bytes float64
}{
	{"KIB", 1 << 10},
	{"MIB", 1 << 20},
	{"GIB", 1 << 30},
	{"TIB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1e3},
	{"M", 1e6},
	{"G", 1e9},
	{"T", 1e12},
	{"B", 1},
	{"", 1},
}

// String returns the number of bytes, "" when unset.
func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type names the value in help texts.
func (b *byteSize) Type() string { return "bytes" }

// or returns the size, or another one when the flag was not given.
func (b *byteSize) or(n int64) int64 { return cmp.Or(int64(*b), n) }

// sizeOrNone is a flag in bytes that may be 0.
type sizeOrNone int64

// String returns the number of bytes.
func (b *sizeOrNone) String() string { return strconv.FormatInt(int64(*b), 10) }

// Type names the value in help texts.
func (b *sizeOrNone) Type() string { return "bytes" }

// Set reads what byteSize does, and 0.
func (b *sizeOrNone) Set(s string) error {
	if strings.TrimSpace(s) == "0" {
		*b = 0
		return nil
	}
	return (*byteSize)(b).Set(s)
}

// Set reads a number of at least one byte with an optional unit.
func (b *byteSize) Set(s string) error {
	text := strings.ToUpper(strings.TrimSpace(s))
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v*u.bytes >= 1) || v*u.bytes >= math.MaxInt64 {
			break
		}
		*b = byteSize(v * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is no size: write 500M (10^6 bytes), with K, M, G, KiB, MiB, GiB or nothing", s)
}
