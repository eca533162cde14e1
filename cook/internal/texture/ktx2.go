package texture

import (
	"errors"
	"fmt"
	"image"

	"github.com/untoldkit/untold/internal/ktx2"
)

// convertKTX2 decodes the largest level to PNG.
func convertKTX2(data []byte, normal bool, take func(need int64) error, limits Limits) (converted, error) {
	img, change, err := readKTX2(data, normal, take, limits)
	if err != nil {
		return converted{}, err
	}
	return encodePNG(img, change)
}

// readKTX2 decodes the largest level and says what it was. Of a picture with two
// channels that serves as a normal map the third coordinate is computed, as shaders
// that know of it do.
func readKTX2(data []byte, normal bool, take func(need int64) error, limits Limits) (img *image.NRGBA, change string, err error) {
	f, err := ktx2.Parse(data)
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return nil, "", ktx2Error(err)
	}
	if err := checkPixels(f.Width, f.Height); err != nil {
		return nil, "", err
	}
	need := f.Cost(0)
	if need > MaxDecodeBytes {
		return nil, "", tooLarge(f.Width, f.Height, need, MaxDecodeBytes)
	}
	need += 4 * int64(f.Width) * int64(f.Height) // the file that is made
	if err := limits.check(f.Width, f.Height, need); err != nil {
		return nil, "", err
	}
	if err := take(need); err != nil {
		return nil, "", err
	}
	if img, err = f.Decode(0); err != nil {
		return nil, "", ktx2Error(err)
	}
	change = fmt.Sprintf("KTX2 (%s) converted to PNG", f.Kind())
	if normal && f.TwoChannels() {
		ktx2.RaiseNormals(img)
		change += ", the third coordinate of its normals computed from the other two"
	}
	return img, change, nil
}

// ktx2Error tells what is not supported from what is broken.
func ktx2Error(err error) error {
	if errors.Is(err, ktx2.ErrUnsupported) {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
