// What holds for a whole frame; Go fills it in frameBlock.
layout(std140) uniform Frame {
    mat4 viewProj;      // from positions relative to the eye
    mat4 shadow[4];     // from positions relative to the eye to texture space
    vec4 shadowTexel[4]; // x: metres per texel, y: depth of one texel, z: layer
    vec4 rayX, rayY, rayZ; // view ray = x * rayX + y * rayY + rayZ in clip coordinates; rayZ is the view direction
    vec4 sunDir;        // to the sun; w: number of cascades
    vec4 sunColor;      // w: exposure
    vec4 zenith;        // w: 1 / edge of the shadow map
    vec4 horizon;       // w: where shadows end, metres
    vec4 ground;
    vec4 glow;          // w: what meshes show where the view is not lit: 1 colours of draws, 2 base colours, 3 normals
    vec4 viewport;      // width, height, 1 / width, 1 / height
} frame;
