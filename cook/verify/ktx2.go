package verify

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/basisu"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/internal/plainfile"
)

// The codes of what can be wrong with a KTX2 file.
const (
	CodeKTX2Damaged = "ktx2-damaged"      // error: it breaks the rules of the format, or a level does not decode
	CodeKTX2Format  = "ktx2-format"       // warning: sound as far as it was read, but not decoded here
	CodeKTX2Chain   = "ktx2-short-chain"  // warning: the chain ends before 1 x 1
	CodeKTX2Order   = "ktx2-order"        // warning: a level lies before a smaller one
	CodeKTX2Edges   = "ktx2-edges"        // warning: edges of Basis Universal that glTF does not allow
	CodeKTX2Engine  = "ktx2-engine-reads" // info: the reference engine does not load the format
)

// addKTX2 judges a KTX2 file, and inflates every level of Basis Universal.
func (f *File) addKTX2(many bool) error {
	in, st, err := plainfile.Open(f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	note := func(code finding.Code, severity finding.Severity, message, hint string) {
		f.add(finding.Finding{Code: code, Severity: severity, Message: message, Hint: hint, Record: -1, Offset: -1, Place: "file"})
	}
	k, err := ktx2.Open(in, st.Size())
	if err == nil {
		err = k.Check()
	}
	for level := 0; err == nil && level < k.Levels() && k.Cost(level) <= picture.MaxBytes; level++ {
		err = k.Verify(level)
	}
	switch {
	case errors.Is(err, ktx2.ErrDamaged):
		note(CodeKTX2Damaged, finding.Error, err.Error(), "fetch or cook the file again")
		return nil
	case errors.Is(err, ktx2.ErrUnsupported):
		note(CodeKTX2Format, finding.Warning, err.Error(), "use UASTC or ETC1S in one picture with its levels, as `untold cook --textures ktx2` writes it")
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	if n, full := k.Levels(), bits.Len(uint(max(k.Width, k.Height))); n < full {
		note(CodeKTX2Chain, finding.Warning, fmt.Sprintf("%d levels, %d x %d pixels have %d", n, k.Width, k.Height, full), "write the chain down to 1 x 1")
	}
	for level := 1; level < k.Levels(); level++ {
		before, _ := k.Range(level - 1)
		if at, _ := k.Range(level); at > before {
			note(CodeKTX2Order, finding.Warning, fmt.Sprintf("level %d lies at byte %d, behind level %d at %d", level, at, level-1, before),
				"put the smallest level first, so that the beginning of the file shows something")
			break
		}
	}
	if model := k.Descriptor.Model; (model == ktx2.ModelUASTC || model == ktx2.ModelETC1S) && (k.Width|k.Height)%basisu.BlockSize != 0 {
		note(CodeKTX2Edges, finding.Warning, fmt.Sprintf("%d x %d pixels", k.Width, k.Height), "KHR_texture_basisu wants multiples of 4")
	}
	if !many {
		note(CodeKTX2Engine, finding.Info, "the reference engine reads no KTX2", "for the reference engine cook with --textures astc or copy")
	}
	return nil
}
