// The sky behind everything: one triangle over the picture.

#ifdef VERTEX
uniform float u_depth; // of the far plane
out vec3 v_ray;
void main() {
    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    v_ray = frame.rayX.xyz * p.x + frame.rayY.xyz * p.y + frame.rayZ.xyz;
    gl_Position = vec4(p, u_depth, 1.0);
}
#else
in vec3 v_ray;
layout(location = 0) out vec4 o_color;
void main() {
    vec3 d = normalize(v_ray);
    vec3 c = skyRadiance(d, 0.0);
    float toSun = dot(d, frame.sunDir.xyz);
    c += frame.sunColor.rgb * 6.0 * smoothstep(0.99985, 0.99995, toSun);
    // Half a step of noise hides the bands of a smooth gradient.
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
    o_color = vec4(graded(toneMap(c)) + noise / 400.0, 1.0);
}
#endif
