package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/human"
)

// textureFlags say what becomes of a scene's images.
type textureFlags struct {
	flags    *pflag.FlagSet
	mode     string
	block    string
	quality  string
	from, to time.Time // when they were resized or compressed
}

func (t *textureFlags) register(f *pflag.FlagSet, o *cook.Options) {
	t.flags = f
	f.StringVar(&t.mode, "textures", cook.TexturesCopy.String(),
		"copy images, resize the large ones, or compress them with mip chains: astc, bc for BC7 and BC5 (.utex), or ktx2 for UASTC, which every device turns into its own blocks; bc and ktx2 are not for the reference engine")
	f.StringVar(&t.block, "astc-block", "auto",
		"texels of a block of --textures astc: 4x4, 5x5, 6x6, 8x8, or auto for 6x6 in roughness, metalness and occlusion and 4x4 elsewhere")
	f.StringVar(&t.quality, "texture-quality", "fast",
		"how much --textures astc and bc try: fast, or high for a smaller error in several times the time")
	f.IntVar(&o.MaxTexture, "max-texture", 0,
		fmt.Sprintf("longest side of resized or compressed textures in pixels; alone it means --textures resize (default: %d for resize, no limit for bc, astc and ktx2)", cook.DefaultMaxTexture))
}

// resolve fills in the options. It comes after Options.Progress is set, which it
// watches for the time that textures take.
func (t *textureFlags) resolve(o *cook.Options) error {
	mode, err := cook.ParseTextureMode(t.mode)
	if err != nil {
		return fmt.Errorf("--textures: %w", err)
	}
	if o.ASTC.Block, err = cook.ParseASTCBlock(t.block); err != nil {
		return fmt.Errorf("--astc-block: %w", err)
	}
	switch o.ASTC.High = t.quality == "high"; {
	case !o.ASTC.High && t.quality != "fast":
		return fmt.Errorf("--texture-quality: %q is unknown; use fast or high", t.quality)
	case o.ASTC.Block != [2]int{} && mode != cook.TexturesASTC:
		return fmt.Errorf("--astc-block goes with --textures astc")
	case o.ASTC.High && mode != cook.TexturesASTC && mode != cook.TexturesBC:
		return fmt.Errorf("--texture-quality goes with --textures astc or bc")
	}
	if t.flags.Changed("max-texture") {
		switch {
		case o.MaxTexture < 1:
			return fmt.Errorf("--max-texture is %d; it must be 1 or more", o.MaxTexture)
		case mode == cook.TexturesCopy && t.flags.Changed("textures"):
			return fmt.Errorf("--max-texture goes with --textures resize, bc, astc or ktx2; copies keep their size")
		case mode == cook.TexturesCopy:
			mode = cook.TexturesResize
		}
	}
	o.Textures = mode
	next := o.Progress
	o.Progress = func(stage string, done, total int) {
		if stage == cook.TextureStage {
			if t.to = time.Now(); done == 0 {
				t.from = t.to
			}
		}
		if next != nil {
			next(stage, done, total)
		}
	}
	return nil
}

// summary says once what the reference engine cannot read, and what cooking the
// textures gave and took.
func (t *textureFlags) summary(a *app, o *cook.Options, r *cook.TextureTotals) {
	if o.Textures == cook.TexturesCopy || r.Images == 0 {
		return
	}
	if o.Textures == cook.TexturesBC {
		a.info("note: BC7 and BC5 textures load in this toolkit only; the reference engine reads nothing but ASTC in .utex (use --textures astc, copy or resize for it)")
	}
	if o.Textures == cook.TexturesKTX2 {
		a.info("note: KTX2 textures load in this toolkit, and in what reads Basis Universal; the reference engine reads none (use --textures astc, copy or resize for it)")
	}
	if o.DryRun {
		return
	}
	pixels := float64(r.Pixels) / 1e6
	took := t.to.Sub(t.from).Seconds()
	a.info("textures (%s): %s of %s -> %s of %s, %s of video memory; %.1f megapixels in %.1f s, %.0f ms each",
		r.Mode, human.Plural(r.Images, "image"), human.Bytes(r.SourceBytes), human.Plural(r.Files, "file"), human.Bytes(r.Bytes), human.Bytes(r.GPUBytes), pixels, took, 1e3*took/max(pixels, 1e-6))
}
