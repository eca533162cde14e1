// Lines in the scene, display colours.

#ifdef VERTEX
layout(location = 0) in vec3 a_position; // relative to the eye
layout(location = 1) in vec4 a_color;
out vec4 v_color;
void main() {
    gl_Position = frame.viewProj * vec4(a_position, 1.0);
    v_color = a_color;
}
#else
in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(pow(v_color.rgb, vec3(2.2)), v_color.a); }
#endif
