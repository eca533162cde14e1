// Depth only; masked materials leave holes, and so does what fades.

#if defined(MASK) || defined(DITHER)
flat in uvec4 v_draw;
#endif
#ifdef MASK
in vec2 v_uv;
uniform sampler2D u_base;
#endif

void main() {
#ifdef MASK
    int m = int(v_draw.x) * 4;
    if (texture(u_base, v_uv).a * FETCH(u_materials, m).a < FETCH(u_materials, m + 1).w) discard;
#endif
#ifdef DITHER
    if (fadedOut(v_draw.y)) discard;
#endif
}
