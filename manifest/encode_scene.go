package manifest

import "github.com/untoldkit/untold/internal/human"

func (e *encoder) light(l *Light) {
	e.where = "light " + human.Clip(l.Name, 80)
	e.object(func() {
		e.key("entity_name").str(l.Name)
		e.key("kind").str(l.Kind)
		e.key("light_type").integer(l.Type)
		e.key("color").vec3(&l.Color)
		e.key("intensity").float(l.Intensity)
		e.key("position").vec3(&l.Position)
		e.key("radius").float(l.Radius)
		e.key("range").float(l.Range)
		e.key("direction").vec3(&l.Direction)
		e.key("falloff").float(l.Falloff)
		e.key("right").vec3(&l.Right)
		e.key("inner_cone").float(l.InnerCone)
		e.key("up").vec3(&l.Up)
		e.key("outer_cone").float(l.OuterCone)
		e.key("area_size").vector(l.AreaSize[:]...)
		e.key("source_power").float(l.SourcePower)
		e.key("source_exposure").float(l.SourceExposure)
		e.key("casts_shadow").boolean(l.CastsShadow)
		e.key("uses_radiometric_units").boolean(l.RadiometricUnit)
		e.key("local_transform_rows").matrix(&l.LocalTransformRows)
	})
}

func (e *encoder) camera(c *Camera) {
	e.where = "camera " + human.Clip(c.Name, 80)
	e.object(func() {
		e.key("entity_name").str(c.Name)
		e.key("position").vec3(&c.Position)
		e.key("forward").vec3(&c.Forward)
		e.key("up").vec3(&c.Up)
		e.key("right").vec3(&c.Right)
		e.key("fov_y_degrees").float(c.FovYDegrees)
		e.key("near_clip").float(c.NearClip)
		e.key("far_clip").float(c.FarClip)
		e.key("aspect_ratio").float(c.AspectRatio)
		e.key("local_transform_rows").matrix(&c.LocalTransformRows)
	})
}

func (e *encoder) matrix(m *[4][4]float64) {
	each(e, m[:], func(row *[4]float64) { e.vector(row[:]...) })
}

func (e *encoder) colorLUT(v *ColorLUT) {
	e.where = "colorLUT"
	if v == nil {
		e.raw("null")
		return
	}
	e.object(func() {
		e.key("lutUri").path(v.URI)
		e.key("lutSize").integer(v.Size)
		e.key("viewTransform").str(v.ViewTransform)
		e.key("look").str(v.Look)
		e.key("displayDevice").strOrNull(v.DisplayDevice)
		e.key("exposure").float(v.Exposure)
		e.key("gamma").float(v.Gamma)
		e.key("shaperMinStops").float(v.ShaperMinStops)
		e.key("shaperMaxStops").float(v.ShaperMaxStops)
	})
}
