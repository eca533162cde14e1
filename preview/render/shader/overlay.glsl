// Text and panels over the picture, blended in display colours.

#ifdef VERTEX
layout(location = 0) in vec2 a_position; // pixels from the top left
layout(location = 1) in vec2 a_uv;
layout(location = 2) in vec4 a_color;
out vec2 v_uv;
out vec4 v_color;
void main() {
    vec2 p = a_position * frame.viewport.zw * 2.0 - 1.0;
    gl_Position = vec4(p.x, -p.y, 0.0, 1.0);
    v_uv = a_uv;
    v_color = a_color;
}
#else
in vec2 v_uv;
in vec4 v_color;
uniform sampler2D u_atlas;
layout(location = 0) out vec4 o_color;
void main() { o_color = v_color * vec4(1.0, 1.0, 1.0, texture(u_atlas, v_uv).r); }
#endif
