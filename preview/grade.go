package preview

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/internal/cube"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// grade reads the colour table that a manifest names, from its folder. A scene is shown
// without it when that fails.
func (l *Loaded) grade(dir string, m *manifest.Manifest) {
	if m.ColorGradeLUT == nil {
		return
	}
	f, err := payloadpath.Open(dir, m.ColorGradeLUT.URI)
	if err != nil {
		l.GradeError = err
		return
	}
	defer f.Close()
	data, err := cube.ReadAll(f)
	if err == nil {
		l.Grade, err = cube.Parse(data)
	}
	if err != nil {
		l.GradeError = fmt.Errorf("%s: %w", filepath.Join(dir, filepath.FromSlash(m.ColorGradeLUT.URI)), err)
	}
}

// regrade takes over the colour table of a scene.
func (a *app) regrade(open *Loaded) {
	err := open.GradeError
	if e := a.r.SetGrade(open.Grade); err == nil {
		err = e
	}
	if err != nil {
		a.messages.reportError(fmt.Sprintf("the picture is not graded: %v", err))
	}
	if t := open.Grade; t != nil && len(t.Skipped) > 0 {
		a.messages.notify("the colour table has keywords that were left out: " + strings.Join(t.Skipped, ", "))
	}
	if l := open.Source.Manifest.ColorLUT; l != nil {
		a.messages.notify("colorLUT is for the engine: the preview has a tone curve of its own")
	}
}
