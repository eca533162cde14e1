package texture

import (
	"errors"
	"fmt"
	"image"

	"github.com/untoldkit/untold/internal/picture"
)

// MaxDecodeBytes is the most memory that decoding one image may take: 2.5 GiB,
// enough for 16384 x 16384 pixels of 8 bits, and for progressive JPEG, whose
// coefficients stay in memory as well, of 11,800 x 11,800.
const MaxDecodeBytes = 5 << 29

// ErrTooLarge says that an image needs more memory to be decoded than
// MaxDecodeBytes, or than there is.
var ErrTooLarge = errors.New("image needs too much memory")

// Limits bound the memory of the images at work. The zero value has the
// defaults.
type Limits struct {
	// Together is what images share that are decoded at a time, by an estimate
	// from their headers; one that needs more is decoded alone. 0 means
	// DefaultMemory.
	Together int64
	// Each is the most that one image may need; others match ErrTooLarge. 0 means
	// any that can be decoded within MaxDecodeBytes.
	Each int64

	budgetForTests *picture.Budget
}

// budget returns what images take their memory from.
func (l Limits) budget() *picture.Budget {
	if l.budgetForTests != nil {
		return l.budgetForTests
	}
	if l.Together <= 0 {
		l.Together = DefaultMemory
	}
	return picture.NewBudget(l.Together)
}

// decodeCost judges the header of an image before it is decoded: what that will
// take, in bytes.
func decodeCost(data []byte, cfg image.Config) (int64, error) {
	c := picture.Estimate(data, cfg.Width, cfg.Height)
	if c.Bytes > MaxDecodeBytes {
		return 0, tooLarge(c.Width, c.Height, c.Bytes, MaxDecodeBytes)
	}
	return c.Bytes, nil
}

// check refuses an image that needs too much memory of this machine.
func (l Limits) check(width, height int, need int64) error {
	if l.Each > 0 && need > l.Each {
		return tooLarge(width, height, need, l.Each)
	}
	return nil
}

func tooLarge(width, height int, need, limit int64) error {
	const mb = 1e6
	return fmt.Errorf("%w: %d x %d pixels take some %.0f MB, the limit is %.0f MB; store the image smaller, or as 8-bit PNG or baseline JPEG",
		ErrTooLarge, width, height, float64(need)/mb, float64(limit)/mb)
}
