// Shading of meshes: metallic-roughness under a sun and a sky.

in vec3 v_position;
in vec3 v_normal;
in vec4 v_tangent;
in vec4 v_color;
in vec2 v_uv;
flat in uvec4 v_draw;
flat in uvec2 v_layers;

uniform sampler2DArray u_base, u_normal, u_metallic, u_roughness, u_emissive, u_occlusion;
uniform sampler2DArrayShadow u_shadow;

layout(location = 0) out vec4 o_color;

#ifdef SHADOWS
float tapShadow(vec3 uvz, float layer, float texel) {
#ifdef FEW_TAPS
    float s = texture(u_shadow, vec4(uvz.xy + vec2(-0.5, -0.5) * texel, layer, uvz.z));
    s += texture(u_shadow, vec4(uvz.xy + vec2(0.5, -0.5) * texel, layer, uvz.z));
    s += texture(u_shadow, vec4(uvz.xy + vec2(-0.5, 0.5) * texel, layer, uvz.z));
    s += texture(u_shadow, vec4(uvz.xy + vec2(0.5, 0.5) * texel, layer, uvz.z));
    return s * 0.25;
#else
    // 3 x 3 bilinear taps with tent weights 1 2 1.
    float s = 0.0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            s += float((2 - abs(x)) * (2 - abs(y))) * texture(u_shadow, vec4(uvz.xy + vec2(x, y) * texel, layer, uvz.z));
    return s / 16.0;
#endif
}

// How much of the sun reaches a point with the geometric normal n. The maps
// differ in place and size alone, so that what is dear is computed once; software
// renderers compute all that is in a branch or loop for every pixel.
float sunVisible(vec3 position, vec3 n, float nDotL) {
    int count = int(frame.sunDir.w);
    float end = frame.horizon.w;
    float away = length(position);
    float texel = frame.zenith.w;
    // Offset along the normal against self-shadowing, by how slanted the light
    // is: so many texels, whatever their size, and half a texel in depth.
    vec3 offset = n * (texel * (0.6 + 1.6 * sqrt(1.0 - nDotL * nDotL)));
    vec3 axisX = frame.shadowAxes[0].xyz, axisY = frame.shadowAxes[1].xyz, axisZ = frame.shadowAxes[2].xyz;
    vec3 p = vec3(dot(axisX, position), dot(axisY, position), dot(axisZ, position));
    vec3 shift = vec3(dot(axisX, offset), dot(axisY, offset), dot(axisZ, offset) - 0.5 * texel);
    // Over the last tenth of a map the next one fades in.
    const float fade = 0.05;
    float border = 3.0 * texel;
#ifdef FEW_TAPS
    float skip = border + fade * ditherThreshold(); // some pixels take one map, some the other
#else
    float skip = border;
#endif
    vec3 uvz = vec3(0.0);
    float inside = 0.0, layer = -1.0;
    int next = 0;
    for (int i = 3; i >= 0; i--) { // unrolled; the nearest wins
        vec3 q = p * frame.shadowMap[i].w + frame.shadowMap[i].xyz + shift;
        vec3 r = min(q, 1.0 - q);
        float rim = min(r.x, r.y);
        if (i < count && r.z > 0.0 && rim > (i + 1 < count ? skip : border)) {
            uvz = q;
            inside = rim - border;
            layer = frame.shadowLayers[i];
            next = i + 1;
        }
    }
    if (layer < 0.0 || away >= end) return 1.0;
    float s = tapShadow(uvz, layer, texel);
#ifndef FEW_TAPS
    if (inside < fade && next < count) {
        vec3 q = p * frame.shadowMap[next].w + frame.shadowMap[next].xyz + shift;
        s = mix(tapShadow(q, frame.shadowLayers[next], texel), s, inside / fade);
    }
#endif
    return mix(s, 1.0, smoothstep(0.85 * end, end, away));
}
#endif

// Specular and diffuse response to light from l; Burley's alpha = roughness^2, GGX,
// height-correlated Smith visibility (Heitz 2014), Schlick's Fresnel.
vec3 lightFrom(vec3 l, vec3 light, vec3 n, vec3 v, vec3 diffuse, vec3 f0, float alpha, float nDotV, float nDotL) {
    vec3 h = normalize(l + v);
    float nDotH = clamp(dot(n, h), 0.0, 1.0), vDotH = clamp(dot(v, h), 0.0, 1.0);
    float a2 = alpha * alpha;
    float f = nDotH * nDotH * (a2 - 1.0) + 1.0;
    float d = a2 / (f * f); // times 1 / pi, which the sun's scale has taken
    float vis = 0.5 / (nDotL * sqrt(nDotV * nDotV * (1.0 - a2) + a2) + nDotV * sqrt(nDotL * nDotL * (1.0 - a2) + a2));
    float k = 1.0 - vDotH, k2 = k * k;
    vec3 fresnel = f0 + (1.0 - f0) * k2 * k2 * k;
    return (diffuse * (1.0 - fresnel) + min(d * vis, 64.0) * fresnel) * light * nDotL;
}

// Light that arrives at a point from one of the author's, and where it comes from:
// KHR_lights_punctual, inverse to the square of the distance and windowed by range.
vec3 arriving(Light g, vec3 position, out vec3 l) {
    if (g.place.w < 0.0) {
        l = -g.way.xyz;
        return g.color.rgb;
    }
    vec3 to = g.place.xyz - position;
    float d2 = max(dot(to, to), 1e-4);
    l = to * inversesqrt(d2);
    float q = d2 * g.place.w;
    float cone = clamp(abs(g.color.w) * -dot(g.way.xyz, l) + g.way.w, 0.0, 1.0);
    if (g.color.w >= 0.0) cone *= cone; // a surface shines by the cosine itself
    return g.color.rgb * (max(1.0 - q * q, 0.0) / d2 * cone);
}

// Scale and offset of f0 in the directional albedo of GGX: Karis' fit
// ("Physically based shading on mobile", 2014).
vec2 directionalAlbedo(float roughness, float nDotV) {
    vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a = min(r.x * r.x, exp2(-9.28 * nDotV)) * r.x + r.y;
    return vec2(-1.04, 1.04) * a + r.zw;
}

void main() {
    uint mask = v_draw.y;
    int m = int(v_draw.x) * 4;
    vec4 base = FETCH(u_materials, m);
    vec4 emissive = FETCH(u_materials, m + 1); // w: alpha cutoff
    vec4 factors = FETCH(u_materials, m + 2);  // metallic, roughness, normal scale, occlusion
    uint flags = uint(FETCH(u_materials, m + 3).x);

#ifdef TEXTURED
    base *= texture(u_base, vec3(v_uv, layerOf(v_layers, 0)));
#endif
    base *= v_color;
    float alpha = 1.0;
    // Pixels that are not drawn are shaded to the end all the same, because
    // their neighbours take differences with them.
    bool hole = false;
#ifdef MASK
#ifdef HOLES // one program for all passes with holes
    if ((flags & MASKED) != 0u) {
#endif
    // Leaves must not thin out in the distance, where they are a few texels; as long as
    // there are many, levels keep the share of them that is above the cutoff. What finer
    // levels have alike is no leaves, and stays.
    float level = LEVEL(u_base, v_uv);
    if (level > 3.0) {
        vec3 at = vec3(v_uv, layerOf(v_layers, 0));
        float mixed = abs(textureLod(u_base, at, level - 4.0).a - textureLod(u_base, at, level).a);
        base.a *= 1.0 + 0.35 * (level - 3.0) * min(8.0 * mixed, 1.0);
    }
    // The edge is one pixel wide and becomes coverage of the samples; an even alpha
    // that is the cutoff is above it.
    alpha = clamp((base.a - emissive.w + 1e-4) / max(fwidth(base.a), 1e-4) + 0.5, 0.0, 1.0);
#ifdef COVERAGE
    hole = alpha <= 0.0;
#else
    hole = alpha < 0.5;
#endif
#ifdef HOLES
    }
#endif
#endif
#ifdef BLEND
    alpha = base.a * opacity(mask);
#endif

    vec3 geometric = normalize(v_normal);
    if (!gl_FrontFacing) geometric = -geometric;
    vec3 n = geometric;
#ifdef TEXTURED
    if ((flags & HAS_NORMAL) != 0u) {
        // The frame is not made orthogonal again, as MikkTSpace wants it.
        // Block-compressed maps have two channels; the third follows.
        vec2 xy = texture(u_normal, vec3(v_uv, layerOf(v_layers, 1))).xy * 2.0 - 1.0;
        vec3 t = vec3(xy * factors.z, sqrt(max(1.0 - dot(xy, xy), 0.0)));
        vec3 bitangent = cross(v_normal, v_tangent.xyz) * v_tangent.w;
        vec3 mapped = t.x * v_tangent.xyz + t.y * bitangent + t.z * v_normal;
        float len = length(mapped);
        if (len > 1e-4) n = gl_FrontFacing ? mapped / len : -mapped / len;
    }
#endif

#ifdef DITHER
    hole = hole || fadedOut(mask);
#endif

#ifdef DEBUG
    if (frame.glow.w > 2.5) { // normals, stored as they are
        vec3 shown = n * 0.5 + 0.5;
        o_color = vec4(pow(shown, vec3(2.2)), alpha);
    } else if (frame.glow.w > 1.5) { // albedo
        o_color = vec4(base.rgb, alpha);
    } else { // the colour of the draw, with a hint of light
        vec3 flatColor = pow(unpackUnorm4x8(v_draw.z).rgb, vec3(2.2));
        float shade = 0.35 + 0.4 * max(dot(n, frame.sunDir.xyz), 0.0) + 0.25 * (0.5 + 0.5 * n.y);
        o_color = vec4(flatColor * shade, alpha);
    }
#else
    float metallic = factors.x, roughness = factors.y, occlusion = 1.0;
#ifdef TEXTURED
    if ((flags & HAS_METALLIC) != 0u) metallic *= channel(texture(u_metallic, vec3(v_uv, layerOf(v_layers, 2))), flags >> 8 & 3u);
    if ((flags & HAS_ROUGHNESS) != 0u) roughness *= channel(texture(u_roughness, vec3(v_uv, layerOf(v_layers, 3))), flags >> 10 & 3u);
    if ((flags & HAS_OCCLUSION) != 0u) occlusion += factors.w * (texture(u_occlusion, vec3(v_uv, layerOf(v_layers, 5))).r - 1.0);
    if ((flags & HAS_EMISSIVE) != 0u) emissive.rgb *= texture(u_emissive, vec3(v_uv, layerOf(v_layers, 4))).rgb;
#endif
    roughness = clamp(roughness, 0.045, 1.0);
    // Curvature and normal maps below a pixel's size widen the highlight
    // (Kaplanyan et al., "Filtering distributions of normals", 2016).
    vec3 nx = dFdx(n), ny = dFdy(n);
    float variance = 0.25 * (dot(nx, nx) + dot(ny, ny));
    float a = roughness * roughness;
    a = sqrt(clamp(a * a + min(2.0 * variance, 0.18), 0.0, 1.0));
    roughness = sqrt(a);

    vec3 v = -normalize(v_position);
    float nDotV = max(abs(dot(n, v)), 1e-3);
    vec3 f0 = mix(vec3(0.04), base.rgb, metallic);
    vec3 diffuse = base.rgb * (1.0 - metallic);

    vec2 ab = directionalAlbedo(roughness, nDotV);
    vec3 albedo = f0 * ab.x + ab.y;
    // Light that bounces between microfacets is not lost (Turquin 2019).
    vec3 more = 1.0 + f0 * (1.0 / max(ab.x + ab.y, 1e-3) - 1.0);

    // What a mapped normal would reflect from below the surface comes from where
    // the surface ends.
    vec3 r = reflect(-v, n);
    r = normalize(r + geometric * max(1e-3 - dot(r, geometric), 0.0));
    float hidden = 1.0; // Lagarde and de Rousiers, "Moving Frostbite to PBR" (2014)
    if (occlusion < 1.0) hidden = clamp(pow(nDotV + occlusion, exp2(-16.0 * roughness - 1.0)) - 1.0 + occlusion, 0.0, 1.0);
    vec3 color = diffuse * (1.0 - albedo) * skyIrradiance(n) * occlusion;
    color += albedo * more * skyRadiance(r, roughness) * hidden;

    float nDotL = dot(n, frame.sunDir.xyz);
    float facing = dot(geometric, frame.sunDir.xyz);
    if (nDotL > 0.0 && facing > 0.0) {
        float visible = smoothstep(0.0, 0.1, facing); // the terminator of normal maps
#ifdef SHADOWS
        visible *= sunVisible(v_position, geometric, facing);
#endif
        color += lightFrom(frame.sunDir.xyz, frame.sunColor.rgb, n, v, diffuse, f0, a, nDotV, nDotL) * more * visible;
    }
    int lights = int(frame.lightCount.x);
    for (int i = 0; i < lights; i++) {
        vec3 l;
        vec3 light = arriving(frame.lights[i], v_position, l);
        float toLight = dot(n, l), ahead = dot(geometric, l);
        if (toLight > 0.0 && ahead > 0.0)
            color += lightFrom(l, light, n, v, diffuse, f0, a, nDotV, toLight) * more * smoothstep(0.0, 0.1, ahead);
    }
    color += emissive.rgb;
    // Unlit colours are display colours: no tone curve.
    o_color = vec4(graded((flags & UNLIT) != 0u ? base.rgb : toneMap(color)), alpha);
#endif
    if (hole) discard;
}
