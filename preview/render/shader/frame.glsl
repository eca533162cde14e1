const int MAX_LIGHTS = 32;

// A light beside the sun.
struct Light {
    vec4 place;  // relative to the eye; w: 1 / range^2, 0 without one, below 0 where it comes from far away
    vec4 color;  // what white shows that faces it at 1 m; w: with way.w the cone, scale * cosine + offset, squared, or not where it is below 0
    vec4 way;    // the way it travels; w: offset
};

// What holds for a whole frame; Go fills it in frameBlock.
layout(std140) uniform Frame {
    mat4 viewProj;      // from positions relative to the eye
    vec4 shadowAxes[3]; // of the space of the shadow maps: across, up, away from the sun
    vec4 shadowMap[4];  // w * position along the axes + xyz is the place in a map, for positions relative to the eye
    vec4 shadowLayers;  // of the maps
    vec4 rayX, rayY, rayZ; // view ray = x * rayX + y * rayY + rayZ in clip coordinates; rayZ is the view direction
    vec4 sunDir;        // to the sun; w: number of cascades
    vec4 sunColor;      // w: exposure
    vec4 zenith;        // w: 1 / edge of the shadow map
    vec4 horizon;       // w: where shadows end, metres
    vec4 ground;
    vec4 glow;          // w: what meshes show where the view is not lit: 1 colours of draws, 2 base colours, 3 normals
    vec4 viewport;      // width, height, 1 / width, 1 / height
    vec4 grade[3];      // size of the colour table, 0 without one, and is it a lattice; where its domain begins; one over its length
    vec4 lightCount;    // lights that follow
    Light lights[MAX_LIGHTS];
} frame;
