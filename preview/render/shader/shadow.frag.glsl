// Depth only; masked materials leave holes, and so does what fades.

#if defined(MASK) || defined(DITHER)
flat in uvec4 v_draw;
#endif
#ifdef MASK
in vec2 v_uv;
flat in uvec2 v_layers;
uniform sampler2DArray u_base;
#endif

void main() {
#ifdef MASK
    int m = int(v_draw.x) * 4;
#ifdef HOLES // one program for all that leaves holes
    if ((uint(FETCH(u_materials, m + 3).x) & MASKED) != 0u)
#endif
    if (texture(u_base, vec3(v_uv, layerOf(v_layers, 0))).a * FETCH(u_materials, m).a < FETCH(u_materials, m + 1).w) discard;
#endif
#ifdef DITHER
    if (fadedOut(v_draw.y)) discard;
#endif
}
