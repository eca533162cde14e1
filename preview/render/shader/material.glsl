// A material as packMaterial in Go writes it.

uniform TABLE u_materials;

const uint HAS_BASE = 1u, HAS_NORMAL = 2u, HAS_METALLIC = 4u, HAS_ROUGHNESS = 8u, HAS_EMISSIVE = 16u, HAS_OCCLUSION = 32u;
const uint UNLIT = 64u, DOUBLE_SIDED = 128u, MASKED = 4096u;

float channel(vec4 c, uint which) {
    return which == 0u ? c.r : which == 1u ? c.g : which == 2u ? c.b : c.a;
}

// The layer in which the texture of a slot lies, a byte each.
float layerOf(uvec2 layers, int slot) {
    return float(layers[slot >> 2] >> (8 * (slot & 3)) & 255u);
}

// Threshold of a pixel in an 8 x 8 ordered dither, (0, 1).
float ditherThreshold() {
    uvec2 p = uvec2(gl_FragCoord.xy);
    uint x = p.x ^ p.y, y = p.y;
    uint v = (x & 1u) << 5 | (y & 1u) << 4 | (x & 2u) << 2 | (y & 2u) << 1 | (x & 4u) >> 1 | (y & 4u) >> 2;
    return (float(v) + 0.5) / 64.0;
}

// What fades has the thresholds from the lower 16 bits up to the upper ones, in steps
// of 1/256: all that is drawn in one place shares them out.
bool fadedOut(uint mask) {
    float t = ditherThreshold() * 256.0;
    return t < float(mask & 0xffffu) || t >= float(mask >> 16);
}

float opacity(uint mask) {
    return float((mask >> 16) - (mask & 0xffffu)) / 256.0;
}
