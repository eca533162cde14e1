// Light and colour, shared by meshes and the sky.

// Radiance of the sky, blurred as a rough surface sees it: 0 sharp, 1 diffuse.
// Below the horizon the ground lies in haze that thins out downwards.
vec3 skyRadiance(vec3 d, float blur) {
    float up = max(d.y, 0.0);
    vec3 above = mix(frame.horizon.rgb, frame.zenith.rgb, mix(sqrt(up), up, blur));
    float haze = exp(min(d.y, 0.0) * mix(4.0, 3.0, blur));
    vec3 below = mix(frame.ground.rgb, mix(0.97, 0.82, blur) * frame.horizon.rgb, mix(1.0, 0.75, blur) * haze);
    float edge = mix(0.004, 1.0, blur);
    vec3 c = mix(below, above, smoothstep(-edge, edge, d.y));
    float toSun = max(dot(d, frame.sunDir.xyz), 0.0);
    float s2 = toSun * toSun, s4 = s2 * s2;
    return c + frame.glow.rgb * mix(s4 * s4 * s4, s2, blur);
}

// Irradiance / pi of the sky on a surface: a uniform upper and lower half-space
// weigh (1 +- n.y) / 2, plus the bright part around the sun.
vec3 skyIrradiance(vec3 n) {
    vec3 upper = 0.45 * frame.zenith.rgb + 0.55 * frame.horizon.rgb;
    vec3 c = mix(frame.ground.rgb, upper, 0.5 + 0.5 * n.y);
    float toSun = 0.5 + 0.5 * dot(n, frame.sunDir.xyz);
    return c + frame.glow.rgb * 0.6 * toSun * toSun;
}

// Display colours as they are stored, and back (IEC 61966-2-1).
vec3 encodeSRGB(vec3 c) {
    return mix(12.92 * c, 1.055 * pow(max(c, 0.0031308), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
vec3 decodeSRGB(vec3 c) {
    return mix(c / 12.92, pow((max(c, 0.04045) + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
}

#ifdef GRADE // software renderers compute all of it for pictures without a table, too
uniform TABLE u_grade;

// A linear display colour by the colour table, in which colours are encoded: between
// its entries linear along one axis, or three.
vec3 graded(vec3 c) {
    int size = int(frame.grade[0].x);
    if (size == 0) return c;
    float last = float(size - 1);
    vec3 at = (encodeSRGB(clamp(c, 0.0, 1.0)) - frame.grade[1].xyz) * frame.grade[2].xyz;
    at = clamp(at, 0.0, 1.0) * last;
    vec3 low = min(floor(at), last - 1.0), part = at - low;
    ivec3 i = ivec3(low);
    if (frame.grade[0].y == 0.0) {
        vec3 a = vec3(FETCH(u_grade, i.r).r, FETCH(u_grade, i.g).g, FETCH(u_grade, i.b).b);
        vec3 b = vec3(FETCH(u_grade, i.r + 1).r, FETCH(u_grade, i.g + 1).g, FETCH(u_grade, i.b + 1).b);
        return decodeSRGB(clamp(mix(a, b, part), 0.0, 1.0));
    }
    int o = i.r + size * (i.g + size * i.b);
    vec3 sum = vec3(0.0);
    for (int k = 0; k < 4; k++) {
        int g = k & 1, b = k >> 1;
        int row = o + size * (g + size * b);
        float weight = (g == 1 ? part.g : 1.0 - part.g) * (b == 1 ? part.b : 1.0 - part.b);
        sum += weight * mix(FETCH(u_grade, row).rgb, FETCH(u_grade, row + 1).rgb, part.r);
    }
    return decodeSRGB(clamp(sum, 0.0, 1.0));
}
#else
vec3 graded(vec3 c) { return c; }
#endif

// Radiance to linear display colour.
vec3 toneMap(vec3 c) {
    c = max(c * frame.sunColor.w, 0.0);
#ifdef TONE_ACES
    // Narkowicz, "ACES filmic tone mapping curve" (2016): a rational fit of the
    // reference transform, each channel for itself.
    return clamp((c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
#else
    // Khronos PBR Neutral (2024): colours below the shoulder stay as they are but
    // for the 4 % that surfaces reflect, those above keep their hue and tend to
    // white.
    const float start = 0.8 - 0.04, desaturation = 0.15, d = 1.0 - start;
    float least = min(c.r, min(c.g, c.b));
    c -= least < 0.08 ? least - 6.25 * least * least : 0.04;
    float peak = max(c.r, max(c.g, c.b));
    if (peak < start) return c;
    float to = 1.0 - d * d / (peak + d - start);
    return mix(c * (to / peak), vec3(to), 1.0 - 1.0 / (desaturation * (peak - to) + 1.0));
#endif
}
