package webgl2

// prologue is what both kinds of shaders need beside GLSL ES 3.00.
const prologue = `precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DArray;
precision highp usampler2D;
precision highp sampler2DArrayShadow;
#define TABLE sampler2D
#define UTABLE usampler2D
#define FETCH(table, i) texelFetch(table, ivec2((i) & 1023, (i) >> 10), 0)
`

// fragmentPrologue has what GLSL ES 3.00 lacks.
const fragmentPrologue = "#version 300 es\n" + prologue + `
float LEVEL(sampler2DArray map, vec2 uv) {
    vec2 edge = vec2(textureSize(map, 0).xy);
    vec2 x = dFdx(uv) * edge, y = dFdy(uv) * edge;
    return 0.5 * log2(max(max(dot(x, x), dot(y, y)), 1e-12));
}
vec4 unpackUnorm4x8(uint v) {
    return vec4(v & 255u, v >> 8 & 255u, v >> 16 & 255u, v >> 24) / 255.0;
}
`

// vertexPrologue says where the number of a record comes from: further instances of
// a command have the numbers of the commands after it.
func (d *Device) vertexPrologue() string {
	s := "#version 300 es\n"
	record := "(u_record + gl_InstanceID)"
	if d.MultiDraw {
		s += "#extension GL_ANGLE_multi_draw : require\n"
		record = "(u_record + gl_DrawID + gl_InstanceID)"
	}
	s += prologue + "#define RECORD_INPUT uniform int u_record\n#define RECORD " + record + "\n"
	switch {
	case d.depthClamp:
	case d.ReverseZ:
		s += "#define CLAMP_NEAR 0.0\n"
	default:
		s += "#define CLAMP_NEAR -1.0\n"
	}
	return s
}
