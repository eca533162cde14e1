// Command texbench measures what compressing textures loses and how long it takes, beside other
// encoders, and prints the tables of docs/textures.md:
//
//	go run ./scripts/texbench -astcenc astcenc -bc7e ./bc7e
//
// astcenc is Debian's package; how bc7e is built stands in peer/bc7e.cpp. What is not named is left
// out of the tables. PSNR is measured on -jobs textures at a time, speed on one alone, in
// processor time.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/internal/astc"
)

// options are the flags.
type options struct {
	assets, only  string
	astcenc, bc7e string
	out           string
	crop, jobs    int
	coders        []string
	footprints    []astc.Footprint
}

func main() {
	var o options
	var blocks, coders string
	flag.StringVar(&o.assets, "assets", "../shared/assets", "folder of the shared assets")
	flag.StringVar(&o.only, "only", "", "measure only textures whose names contain this")
	flag.StringVar(&o.astcenc, "astcenc", "", "path of astcenc")
	flag.StringVar(&o.bc7e, "bc7e", "", "path of the program made of peer/bc7e.cpp")
	flag.StringVar(&o.out, "o", "", "write the tables into this file, too")
	flag.IntVar(&o.crop, "crop", 0, "take only the middle N x N texels; 0: all of them")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "textures to compress at a time")
	flag.StringVar(&blocks, "blocks", "4x4,5x5,6x6,8x8", "sizes of ASTC's blocks; none: no ASTC")
	flag.StringVar(&coders, "coders", "", "only these, as the tables name them, with semicolons between")
	flag.Parse()
	if coders != "" {
		o.coders = strings.Split(coders, ";")
	}
	err := o.sizes(blocks)
	if err == nil {
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "texbench:", err)
		os.Exit(1)
	}
}

// sizes takes the sizes of ASTC's blocks from the flag.
func (o *options) sizes(blocks string) error {
	if blocks == "none" || blocks == "" {
		return nil
	}
	for b := range strings.SplitSeq(blocks, ",") {
		var f astc.Footprint
		if n, err := fmt.Sscanf(b, "%dx%d", &f.Width, &f.Height); n != 2 || err != nil || f.String() != b || !f.Encodes() {
			return fmt.Errorf("-blocks: ASTC has no blocks of %q", b)
		}
		o.footprints = append(o.footprints, f)
	}
	return nil
}

func run(o options) error {
	list, err := samples(o)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "texbench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := peers{astcenc: o.astcenc, bc7e: o.bc7e, dir: dir}
	coders := coders(o, p)

	results, err := measure(list, coders, o.jobs)
	if err != nil {
		return err
	}
	speeds, err := clock(list, coders)
	if err != nil {
		return err
	}

	var w io.Writer = os.Stdout
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = io.MultiWriter(os.Stdout, f)
	}
	b := bufio.NewWriter(w)
	tables{o, list, results, speeds}.print(b)
	return b.Flush()
}

// measure returns the PSNR of every sample by every coder that is for it.
func measure(list []*sample, coders []coder, jobs int) (map[key]float64, error) {
	results := make([]float64, len(list)*len(coders))
	var g errgroup.Group
	g.SetLimit(max(1, jobs))
	for i, s := range list {
		for k, c := range coders {
			if !c.takes(s) {
				continue
			}
			g.Go(func() error {
				pix, _, err := c.code(s)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, c.name, err)
				}
				results[i*len(coders)+k] = s.psnr(pix)
				fmt.Fprintf(os.Stderr, "%s %s %s: %.2f dB\n", s.name, s.kind, c.name, results[i*len(coders)+k])
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := map[key]float64{}
	for i, s := range list {
		for k, c := range coders {
			if c.takes(s) {
				out[key{s, c.name}] = results[i*len(coders)+k]
			}
		}
	}
	return out, nil
}

// key names a result.
type key struct {
	sample *sample
	coder  string
}

// clock returns megapixels a second of processor time, of the samples of one model, one after
// the other.
func clock(list []*sample, coders []coder) (map[string]float64, error) {
	out := map[string]float64{}
	short := timed(list)
	for _, c := range coders {
		var spent time.Duration
		var pixels float64
		for _, s := range short {
			if !c.takes(s) {
				continue
			}
			_, took, err := c.code(s)
			if err != nil {
				return nil, err
			}
			spent += took
			pixels += float64(s.img.Rect.Dx()*s.img.Rect.Dy()) / 1e6
		}
		if spent > 0 {
			out[c.name] = pixels / spent.Seconds()
			fmt.Fprintf(os.Stderr, "%s: %.2f Mpix/s\n", c.name, out[c.name])
		}
	}
	return out, nil
}

// timed are the samples that speed is measured on: the middle of the chair's, else of the
// first few.
func timed(list []*sample) []*sample {
	var out []*sample
	for _, s := range list {
		if strings.Contains(s.name, "plastic_monobloc_chair") {
			out = append(out, s.middle(512))
		}
	}
	for i := 0; len(out) < min(3, len(list)); i++ {
		out = append(out, list[i].middle(512))
	}
	return out
}
