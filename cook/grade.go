package cook

import (
	"fmt"
	"io"
	"path"

	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/manifest"
)

// gradeEnd ends the name of the colour table that a cook stages.
const gradeEnd = "_grade.cube"

// checkGrade refuses a table that no reader takes.
func (o *Options) checkGrade() error {
	if o.Grade == nil {
		return nil
	}
	if _, err := cube.Parse(o.Grade); err != nil {
		return fmt.Errorf("cook: the colour table: %w (%w)", err, ErrBadInput)
	}
	return nil
}

// gradeFile is where the table lies: beside the tiles, by the scene's name.
func (c *scenePlan) gradeFile() string { return path.Join(c.opts.PayloadDir, c.name+gradeEnd) }

// describeGrade names the table.
func (c *scenePlan) describeGrade(m *manifest.Manifest) {
	if c.opts.Grade == nil {
		return
	}
	if t, err := cube.Parse(c.opts.Grade); err == nil { // as checkGrade has seen
		m.ColorGradeLUT = &manifest.GradeLUT{URI: c.gradeFile(), Size: t.Size}
	}
}

// stageGrade stages the table as it is.
func (c *scenePlan) stageGrade(out *output) error {
	if c.opts.Grade == nil {
		return nil
	}
	_, err := out.write(c.gradeFile(), func(w io.Writer) error {
		_, err := w.Write(c.opts.Grade)
		return err
	})
	return err
}
