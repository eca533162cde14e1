// Vertices of a mesh. A draw is one record of two texels: which object, which
// material, and in which layers its textures lie.

layout(location = 0) in vec4 a_position; // packed: lower 16 bits of each axis, and the upper 5 of all
layout(location = 1) in vec4 a_normal;  // -511..511
layout(location = 2) in vec4 a_tangent; // -511..511; the sign of w is the handedness; not in layout 1
layout(location = 3) in vec2 a_uv;      // v runs bottom-up
layout(location = 4) in vec4 a_color;   // not in layouts 1 and 2
RECORD_INPUT;

uniform TABLE u_objects;
uniform UTABLE u_draws;

#ifdef SHADOW
uniform mat4 u_light;
#else
out vec3 v_position; // relative to the eye
out vec3 v_normal;
out vec4 v_tangent;
out vec4 v_color;
#endif
#if !defined(SHADOW) || defined(MASK) || defined(DITHER)
out vec2 v_uv;
flat out uvec4 v_draw; // material, mask, colour, unused
flat out uvec2 v_layers;
#endif

void main() {
    uvec4 draw = FETCH(u_draws, 2 * RECORD);
    int o = int(draw.x) * 5;
    vec4 r0 = FETCH(u_objects, o), r1 = FETCH(u_objects, o + 1), r2 = FETCH(u_objects, o + 2);
    vec4 pivot = FETCH(u_objects, o + 3), lattice = FETCH(u_objects, o + 4);
    int kind = int(pivot.w); // of package compact; 0: positions are as in files
    vec3 steps = a_position.xyz;
    if (kind != 0) {
        vec3 high = floor(a_position.www * vec3(1.0, 1.0 / 32.0, 1.0 / 1024.0));
        high.xy -= 32.0 * high.yz;
        steps += 65536.0 * high;
    }
    // Exact: the sum is a multiple of the step that single precision has.
    vec3 p = lattice.xyz + lattice.w * steps - pivot.xyz;
    vec3 position = vec3(dot(r0.xyz, p) + r0.w, dot(r1.xyz, p) + r1.w, dot(r2.xyz, p) + r2.w);

#ifdef SHADOW
    gl_Position = u_light * vec4(position, 1.0);
#ifdef CLAMP_NEAR // the device cannot clamp depths
    gl_Position.z = max(gl_Position.z, CLAMP_NEAR);
#endif
#else
    gl_Position = frame.viewProj * vec4(position, 1.0);
    v_position = position;
    v_color = kind == 1 || kind == 2 ? vec4(1.0) : a_color;
    // Normals go by the cofactor matrix, which keeps right angles and needs no
    // inverse; a mirroring transform turns its sign and the tangent's hand.
    vec3 c0 = vec3(r0.x, r1.x, r2.x), c1 = vec3(r0.y, r1.y, r2.y), c2 = vec3(r0.z, r1.z, r2.z);
    vec3 k0 = cross(c1, c2), k1 = cross(c2, c0), k2 = cross(c0, c1);
    float hand = dot(c0, k0) < 0.0 ? -1.0 : 1.0;
    v_normal = normalize((k0 * a_normal.x + k1 * a_normal.y + k2 * a_normal.z) * hand);
    v_tangent = vec4(0.0); // of surfaces without a normal map
    if (kind != 1) {
        v_tangent.xyz = normalize(c0 * a_tangent.x + c1 * a_tangent.y + c2 * a_tangent.z);
        v_tangent.w = a_tangent.w < 0.0 ? -hand : hand;
    }
#endif
#if !defined(SHADOW) || defined(MASK) || defined(DITHER)
    v_uv = vec2(a_uv.x, 1.0 - a_uv.y);
    v_draw = draw.yzwx;
    v_layers = FETCH(u_draws, 2 * RECORD + 1).xy;
#endif
}
