// The browser's side of the graphics device (package webgl2): it replays the
// commands that a frame consists of. Numbers of commands, and of words that they
// take, are those of ops.go.

const WIDTH = 1024; // texels of a row of a table
const ROW = 4 * WIDTH; // numbers of one
const SCRATCH = 15; // texture unit that no sampler reads
const IN_FLIGHT = 3;

// The program that shows linear light.
const ENCODE_VERTEX = `#version 300 es
  void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;
const ENCODE_FRAGMENT = `#version 300 es
  precision highp float;
  uniform highp sampler2D u_linear;
  out vec4 o_color;
  void main() {
    vec3 c = texelFetch(u_linear, ivec2(gl_FragCoord.xy), 0).rgb;
    o_color = vec4(mix(12.92 * c, 1.055 * pow(max(c, 1e-6), vec3(1.0 / 2.4)) - 0.055, greaterThan(c, vec3(0.0031308))), 1.0);
  }`;

export class WebGL {
  // memory returns the program's WebAssembly.Memory.
  // without are names of extensions to leave alone.
  constructor(canvas, memory, without) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.gl = gl;
    this.memory = memory;
    this.without = without;
    this.objects = [];
    this.used = null; // program
    this.begun = false; // something was drawn
    this.broken = ""; // why nothing can be drawn
    this.commands = 0; // places of the counts, offsets and instances in memory, as words
    this.count = 0;
    this.failures = [];
    this.empty = gl.createVertexArray();
    this.lastBuffer = null;
  }

  caps(plain) {
    const gl = this.gl;
    const ext = (name) => (plain || this.without.includes(name) ? null : gl.getExtension(name));
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    this.clip = ext("EXT_clip_control");
    this.clamp = ext("EXT_depth_clamp");
    this.multi = ext("WEBGL_multi_draw");
    this.polygon = ext("WEBGL_polygon_mode");
    this.parallel = ext("KHR_parallel_shader_compile"); // programs are made beside the page
    this.encode = this.make("encode", ENCODE_VERTEX, ENCODE_FRAGMENT, "", { u_linear: SCRATCH });
    const aniso = ext("EXT_texture_filter_anisotropic");
    if (this.clip) this.clip.clipControlEXT(this.clip.LOWER_LEFT_EXT, this.clip.ZERO_TO_ONE_EXT);
    return {
      vendor: info ? gl.getParameter(info.UNMASKED_VENDOR_WEBGL) : gl.getParameter(gl.VENDOR),
      device: this.name(),
      version: gl.getParameter(gl.VERSION),
      reverseZ: !!this.clip,
      depthClamp: !!this.clamp,
      multiDraw: !!this.multi,
      wireframe: !!this.polygon,
      blocks: !!ext("EXT_texture_compression_bptc") && !!ext("EXT_texture_compression_rgtc"),
      astc: !!ext("WEBGL_compressed_texture_astc"),
      software: this.software(),
      anisotropy: aniso ? gl.getParameter(aniso.MAX_TEXTURE_MAX_ANISOTROPY_EXT) : 1,
      maxTexture: gl.getParameter(gl.MAX_TEXTURE_SIZE),
      maxLayers: gl.getParameter(gl.MAX_ARRAY_TEXTURE_LAYERS),
      samples: gl.getParameter(gl.MAX_SAMPLES),
    };
  }

  name() {
    const info = this.gl.getExtension("WEBGL_debug_renderer_info");
    return this.gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : this.gl.RENDERER);
  }

  // software reports whether a processor draws.
  software() {
    return /swiftshader|llvmpipe|software|basic render/i.test(this.name());
  }

  // error returns what went wrong since the last call.
  error() {
    const gl = this.gl;
    for (let e = gl.getError(), n = 0; e !== gl.NO_ERROR && n < 16; e = gl.getError(), n++) this.failures.push("WebGL error 0x" + e.toString(16));
    const text = this.failures.join("; ");
    this.failures = [];
    return text;
  }

  // make begins to compile and link a program. name is for messages.
  make(name, vertex, fragment, block, units) {
    const gl = this.gl;
    const p = gl.createProgram();
    const shaders = [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]].map(([kind, text]) => {
      const s = gl.createShader(kind);
      gl.shaderSource(s, text);
      gl.compileShader(s);
      gl.attachShader(p, s);
      return s;
    });
    gl.linkProgram(p);
    return { kind: "program", name, gl: p, record: null, shaders, block, units, locations: [] };
  }

  // program compiles and links. The answer is what went wrong, "" for nothing. Of programs
  // that are wanted later, and of those that are made before anything is drawn, that is asked
  // when one is used first: drivers take a second for all of them, in which the scene comes;
  // what goes wrong is thrown then, and stays in broken, as it ends the program.
  program(id, name, vertex, fragment, block, units, later) {
    const made = this.make(name, vertex, fragment, block, units);
    this.objects[id] = made;
    if (later || !this.begun) return "";
    const text = this.linked(made);
    if (!text) return "";
    this.objects[id] = undefined;
    this.gl.deleteProgram(made.gl);
    return text;
  }

  // ready reports whether a program is made, so that its use waits for nothing, and so the
  // one by which pictures are shown. Browsers that cannot say it wait at the first use.
  ready(id) {
    const done = (made) => !made.shaders || this.gl.getProgramParameter(made.gl, this.parallel.COMPLETION_STATUS_KHR);
    return !this.parallel || this.gl.isContextLost() || (done(this.encode) && done(this.objects[id]));
  }

  // linked waits for a program, and tells it what it has to know. It returns what went wrong.
  linked(made) {
    const gl = this.gl;
    const p = made.gl, { shaders } = made;
    if (!shaders) return ""; // it was
    let text = "";
    if (!gl.getProgramParameter(p, gl.LINK_STATUS) && !gl.isContextLost()) {
      text = shaders.map((s) => gl.getShaderInfoLog(s)).concat(gl.getProgramInfoLog(p)).filter(Boolean).join("\n") || "the program does not link";
    }
    shaders.forEach((s) => gl.deleteShader(s));
    made.shaders = null;
    if (text) return text;
    gl.useProgram(p);
    this.used = null;
    for (const name of Object.keys(made.units)) {
      const at = gl.getUniformLocation(p, name);
      if (at) gl.uniform1i(at, made.units[name]);
    }
    const index = gl.getUniformBlockIndex(p, made.block);
    if (index !== gl.INVALID_INDEX) gl.uniformBlockBinding(p, index, 0);
    made.record = gl.getUniformLocation(p, "u_record");
    for (const l of made.locations) l.gl = gl.getUniformLocation(p, l.name);
    return "";
  }

  // use takes a program into use, null for none.
  use(made) {
    this.begun = true;
    const text = made ? this.linked(made) : "";
    if (text) this.fail(made.name, text);
    this.used = made;
    this.gl.useProgram(made ? made.gl : null);
  }

  // fail ends the drawing for a program that cannot be had.
  fail(name, text) {
    this.broken = `${name}: ${text}`;
    throw new Error(this.broken);
  }

  // location gives a uniform an id; the answer is false when there is none. One that is not
  // there is null, which sets nothing, where the program has not been asked yet.
  location(program, id, name) {
    const made = this.objects[program];
    const at = made.shaders ? null : this.gl.getUniformLocation(made.gl, name);
    const found = { kind: "location", name, gl: at };
    this.objects[id] = found;
    if (made.shaders) made.locations.push(found);
    return !!made.shaders || !!at;
  }

  // read stores the picture of a target at an address.
  read(id, address) {
    const gl = this.gl;
    const t = this.objects[id];
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, t.picture.fbo);
    gl.readPixels(0, 0, t.width, t.height, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(this.memory().buffer, address, 4 * t.width * t.height));
  }

  attributes(u, p, buffer) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    const n = u[p++];
    for (let i = 0; i < n; i++, p += 5) {
      const kind = [gl.FLOAT, gl.HALF_FLOAT, gl.UNSIGNED_BYTE, gl.INT_2_10_10_10_REV, gl.UNSIGNED_SHORT][u[p + 2]];
      gl.enableVertexAttribArray(u[p]);
      gl.vertexAttribPointer(u[p], u[p + 1], kind, u[p + 2] === 2, u[p + 3], u[p + 4]);
    }
    return p;
  }

  // store writes data into one of the buffers of an object, one for each frame in
  // flight.
  store(target, place, u8, address, bytes) {
    const gl = this.gl;
    gl.bindBuffer(target, place.buffer || (place.buffer = gl.createBuffer()));
    if (bytes > (place.size || 0)) {
      for (place.size = place.size || 4096; place.size < bytes; ) place.size *= 2;
      gl.bufferData(target, place.size, gl.DYNAMIC_DRAW);
    }
    if (bytes) gl.bufferSubData(target, 0, u8, address, bytes);
  }

  // table makes a texture for a table of so many rows.
  table(integers, rows) {
    const gl = this.gl;
    const t = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + SCRATCH);
    gl.bindTexture(gl.TEXTURE_2D, t);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.texStorage2D(gl.TEXTURE_2D, 1, integers ? gl.RGBA32UI : gl.RGBA32F, WIDTH, rows);
    return t;
  }

  // records stores texels in a texture of their own for each frame in flight.
  records(o, at, view, address, bytes) {
    const gl = this.gl;
    const place = o.places[at];
    const texels = bytes >> 4;
    const rows = Math.max(1, Math.ceil(texels / WIDTH));
    if (rows > (place.rows || 0)) {
      if (place.texture) gl.deleteTexture(place.texture);
      for (place.rows = place.rows || 16; place.rows < rows; ) place.rows *= 2;
      place.texture = this.table(o.integers, place.rows);
    }
    gl.activeTexture(gl.TEXTURE0 + o.unit);
    gl.bindTexture(gl.TEXTURE_2D, place.texture);
    const format = o.integers ? gl.RGBA_INTEGER : gl.RGBA;
    const type = o.integers ? gl.UNSIGNED_INT : gl.FLOAT;
    const full = Math.floor(texels / WIDTH);
    if (full) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, WIDTH, full, format, type, view, address >> 2);
    if (texels % WIDTH) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, full, texels % WIDTH, 1, format, type, view, (address >> 2) + full * ROW);
  }

  // attach makes a framebuffer.
  attach(parts) {
    const gl = this.gl;
    const fbo = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, fbo);
    for (const [at, what] of parts) {
      if (what instanceof WebGLTexture) gl.framebufferTexture2D(gl.FRAMEBUFFER, at, gl.TEXTURE_2D, what, 0);
      else gl.framebufferRenderbuffer(gl.FRAMEBUFFER, at, gl.RENDERBUFFER, what);
    }
    const status = gl.checkFramebufferStatus(gl.FRAMEBUFFER);
    if (status !== gl.FRAMEBUFFER_COMPLETE) this.failures.push("framebuffer status 0x" + status.toString(16));
    return fbo;
  }

  picture(format, width, height) {
    const gl = this.gl;
    const texture = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + SCRATCH);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    return texture;
  }

  target(width, height, samples) {
    const gl = this.gl;
    const rb = (format) => {
      const b = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, b);
      if (samples > 1) gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      else gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
      return b;
    };
    const t = { kind: "target", width, height, renderbuffers: [], textures: [] };
    // Depths from 0 to 1 with the far plane at 0 want floats.
    const depth = rb(this.clip ? gl.DEPTH_COMPONENT32F : gl.DEPTH_COMPONENT24);
    t.renderbuffers.push(depth);
    const resolved = this.picture(gl.SRGB8_ALPHA8, width, height);
    const picture = this.picture(gl.RGBA8, width, height);
    t.textures.push(resolved, picture);
    t.linear = resolved;
    t.picture = { fbo: this.attach([[gl.COLOR_ATTACHMENT0, picture]]) };
    if (samples > 1) {
      const color = rb(gl.SRGB8_ALPHA8);
      t.renderbuffers.push(color);
      t.resolved = this.attach([[gl.COLOR_ATTACHMENT0, resolved]]);
      t.scene = this.attach([[gl.COLOR_ATTACHMENT0, color], [gl.DEPTH_ATTACHMENT, depth]]);
    } else {
      t.scene = this.attach([[gl.COLOR_ATTACHMENT0, resolved], [gl.DEPTH_ATTACHMENT, depth]]);
    }
    return t;
  }

  blit(from, to, t) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, from);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, to);
    gl.blitFramebuffer(0, 0, t.width, t.height, 0, 0, t.width, t.height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  }

  // resolve averages the samples and stores what shows them, byte for byte.
  resolve(t) {
    const gl = this.gl;
    if (t.resolved) this.blit(t.scene, t.resolved, t);
    const text = this.linked(this.encode);
    if (text) this.fail("encode", text);
    gl.bindFramebuffer(gl.FRAMEBUFFER, t.picture.fbo);
    gl.viewport(0, 0, t.width, t.height);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    gl.activeTexture(gl.TEXTURE0 + SCRATCH);
    gl.bindTexture(gl.TEXTURE_2D, t.linear);
    gl.useProgram(this.encode.gl);
    this.used = null;
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindTexture(gl.TEXTURE_2D, null); // it will be drawn to
  }

  remove(id) {
    const gl = this.gl;
    const o = this.objects[id];
    this.objects[id] = undefined;
    if (!o) return;
    switch (o.kind) {
      case "buffer": return gl.deleteBuffer(o.gl);
      case "array": return gl.deleteVertexArray(o.gl);
      case "program":
        (o.shaders || []).forEach((s) => gl.deleteShader(s));
        return gl.deleteProgram(o.gl);
      case "texture": return gl.deleteTexture(o.gl);
      case "framebuffer": return gl.deleteFramebuffer(o.gl);
      case "target":
        [o.scene, o.resolved, o.picture.fbo].forEach((f) => f && gl.deleteFramebuffer(f));
        o.renderbuffers.forEach((b) => gl.deleteRenderbuffer(b));
        return o.textures.forEach((t) => gl.deleteTexture(t));
      case "places":
        return o.places.forEach((p) => {
          for (const b of [p.buffer, p.vertices && p.vertices.buffer, p.indices && p.indices.buffer]) if (b) gl.deleteBuffer(b);
          if (p.array) gl.deleteVertexArray(p.array);
          if (p.texture) gl.deleteTexture(p.texture);
        });
    }
  }

  drawCommands(first, count, i32) {
    const gl = this.gl;
    const record = this.used && this.used.record;
    const at = this.commands + first;
    if (this.multi) {
      gl.uniform1i(record, first);
      this.multi.multiDrawElementsInstancedWEBGL(gl.TRIANGLES, i32, at, gl.UNSIGNED_INT, i32, at + this.count, i32, at + 2 * this.count, count);
      return;
    }
    for (let k = 0; k < count; k++) {
      const instances = i32[at + 2 * this.count + k];
      if (!instances) continue;
      gl.uniform1i(record, first + k);
      gl.drawElementsInstanced(gl.TRIANGLES, i32[at + k], gl.UNSIGNED_INT, i32[at + this.count + k], instances);
    }
  }

  // replay does what the words at an address say.
  replay(address) {
    const gl = this.gl;
    const buffer = this.memory().buffer;
    if (buffer !== this.lastBuffer) {
      // Views are void when memory has grown.
      this.lastBuffer = buffer;
      this.views = { u8: new Uint8Array(buffer), u32: new Uint32Array(buffer), i32: new Int32Array(buffer), f32: new Float32Array(buffer) };
    }
    const { u8, u32: u, i32, f32: f } = this.views;
    const objects = this.objects;
    const set = (name, on) => (on ? gl.enable(name) : gl.disable(name));
    for (let p = address >> 2; ; ) {
      switch (u[p++]) {
        case 0: // End
          return;
        case 1: { // NewBuffer
          const b = gl.createBuffer();
          gl.bindBuffer(gl.ARRAY_BUFFER, b);
          gl.bufferData(gl.ARRAY_BUFFER, u[p + 1], gl.STATIC_DRAW);
          objects[u[p]] = { kind: "buffer", gl: b, target: gl.ARRAY_BUFFER };
          p += 2;
          break;
        }
        case 2: { // WriteBuffer
          const o = objects[u[p]];
          if (o.target === gl.ELEMENT_ARRAY_BUFFER) gl.bindVertexArray(null);
          gl.bindBuffer(o.target, o.gl);
          gl.bufferSubData(o.target, u[p + 1], u8, u[p + 2], u[p + 3]);
          p += 4;
          break;
        }
        case 3: { // SmallBuffer
          const o = objects[u[p]];
          if (o.target === gl.ELEMENT_ARRAY_BUFFER) gl.bindVertexArray(null);
          gl.bindBuffer(o.target, o.gl);
          gl.bufferSubData(o.target, u[p + 1], u8, 4 * (p + 3), u[p + 2]);
          p += 3 + ((u[p + 2] + 3) >> 2);
          break;
        }
        case 4: // Delete
          this.remove(u[p++]);
          break;
        case 5: { // NewArray
          const a = gl.createVertexArray();
          const index = gl.createBuffer();
          gl.bindVertexArray(a);
          gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, index);
          gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, u[p + 3], gl.STATIC_DRAW);
          objects[u[p]] = { kind: "array", gl: a };
          objects[u[p + 2]] = { kind: "buffer", gl: index, target: gl.ELEMENT_ARRAY_BUFFER };
          p = this.attributes(u, p + 4, objects[u[p + 1]].gl);
          gl.bindVertexArray(null);
          break;
        }
        case 6: { // BindArray
          const o = objects[u[p++]];
          gl.bindVertexArray(o ? o.gl : null);
          break;
        }
        case 7: { // NewGeometry
          const places = [];
          const id = u[p];
          let next = p;
          for (let i = 0; i < IN_FLIGHT; i++) {
            const place = { array: gl.createVertexArray(), vertices: { buffer: gl.createBuffer() }, indices: { buffer: gl.createBuffer() } };
            gl.bindVertexArray(place.array);
            next = this.attributes(u, p + 1, place.vertices.buffer);
            gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, place.indices.buffer);
            places.push(place);
          }
          gl.bindVertexArray(null);
          objects[id] = { kind: "places", places };
          p = next;
          break;
        }
        case 8: { // WriteGeometry
          const place = objects[u[p]].places[u[p + 1]];
          gl.bindVertexArray(place.array);
          this.store(gl.ARRAY_BUFFER, place.vertices, u8, u[p + 2], u[p + 3]);
          if (u[p + 5]) this.store(gl.ELEMENT_ARRAY_BUFFER, place.indices, u8, u[p + 4], u[p + 5]);
          p += 6;
          break;
        }
        case 9: // NewUniforms
          objects[u[p++]] = { kind: "places", places: Array.from({ length: IN_FLIGHT }, () => ({})) };
          break;
        case 10: { // WriteUniforms
          const place = objects[u[p]].places[u[p + 1]];
          this.store(gl.UNIFORM_BUFFER, place, u8, u[p + 2], u[p + 3]);
          gl.bindBufferBase(gl.UNIFORM_BUFFER, 0, place.buffer);
          p += 4;
          break;
        }
        case 11: // NewRecords
          objects[u[p]] = { kind: "places", integers: u[p + 1] === 1, unit: u[p + 2], places: Array.from({ length: IN_FLIGHT }, () => ({})) };
          p += 3;
          break;
        case 12: { // WriteRecords
          const o = objects[u[p]];
          this.records(o, u[p + 1], o.integers ? u : f, u[p + 2], u[p + 3]);
          p += 4;
          break;
        }
        case 13: // NewTable
          objects[u[p]] = { kind: "texture", gl: null, unit: u[p + 1] };
          p += 2;
          break;
        case 14: { // GrowTable
          const o = objects[u[p]];
          if (o.gl) gl.deleteTexture(o.gl);
          o.gl = this.table(false, u[p + 1]);
          p += 2;
          break;
        }
        case 15: // WriteTable
          gl.activeTexture(gl.TEXTURE0 + SCRATCH);
          gl.bindTexture(gl.TEXTURE_2D, objects[u[p]].gl);
          gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, u[p + 1], WIDTH, u[p + 2], gl.RGBA, gl.FLOAT, f, u[p + 3] >> 2);
          p += 4;
          break;
        case 16: { // BindTable
          const o = objects[u[p++]];
          gl.activeTexture(gl.TEXTURE0 + o.unit);
          gl.bindTexture(gl.TEXTURE_2D, o.gl);
          break;
        }
        case 17: // Commands
          this.count = u[p];
          this.commands = u[p + 1] >> 2;
          p += 2;
          break;
        case 18: // UseProgram
          this.use(objects[u[p++]] || null);
          break;
        case 19: // Uniform1f
          gl.uniform1f(objects[u[p]].gl, f[p + 1]);
          p += 2;
          break;
        case 20: // Uniform4f
          gl.uniform4f(objects[u[p]].gl, f[p + 1], f[p + 2], f[p + 3], f[p + 4]);
          p += 5;
          break;
        case 21: // UniformMatrix
          gl.uniformMatrix4fv(objects[u[p]].gl, false, f, p + 1, 16);
          p += 17;
          break;
        case 22: { // NewTexture
          const t = gl.createTexture();
          gl.activeTexture(gl.TEXTURE0 + SCRATCH);
          gl.bindTexture(gl.TEXTURE_2D_ARRAY, t);
          gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
          gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
          if (u[p + 7] > 1) gl.texParameteri(gl.TEXTURE_2D_ARRAY, 0x84fe, u[p + 7]); // TEXTURE_MAX_ANISOTROPY_EXT
          gl.texStorage3D(gl.TEXTURE_2D_ARRAY, u[p + 3], u[p + 1], u[p + 4], u[p + 5], u[p + 6]);
          objects[u[p]] = { kind: "texture", target: gl.TEXTURE_2D_ARRAY, gl: t, format: u[p + 1], compressed: u[p + 2] === 1 };
          p += 8;
          break;
        }
        case 23: { // NewAtlas
          const t = gl.createTexture();
          gl.activeTexture(gl.TEXTURE0 + SCRATCH);
          gl.bindTexture(gl.TEXTURE_2D, t);
          for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
          for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
          gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
          gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R8, u[p + 1], u[p + 2]);
          gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, u[p + 1], u[p + 2], gl.RED, gl.UNSIGNED_BYTE, u8, u[p + 3]);
          gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
          objects[u[p]] = { kind: "texture", target: gl.TEXTURE_2D, gl: t };
          p += 4;
          break;
        }
        case 24: { // WriteTexture
          const o = objects[u[p]];
          gl.activeTexture(gl.TEXTURE0 + SCRATCH);
          gl.bindTexture(gl.TEXTURE_2D_ARRAY, o.gl);
          if (o.compressed) gl.compressedTexSubImage3D(gl.TEXTURE_2D_ARRAY, u[p + 2], 0, u[p + 3], u[p + 1], u[p + 4], u[p + 5], 1, o.format, u8, u[p + 6], u[p + 7]);
          else gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, u[p + 2], 0, u[p + 3], u[p + 1], u[p + 4], u[p + 5], 1, gl.RGBA, gl.UNSIGNED_BYTE, u8, u[p + 6]);
          p += 8;
          break;
        }
        case 25: { // BindTexture
          const o = objects[u[p + 1]];
          gl.activeTexture(gl.TEXTURE0 + u[p]);
          gl.bindTexture(o ? o.target : gl.TEXTURE_2D_ARRAY, o ? o.gl : null);
          p += 2;
          break;
        }
        case 26: { // NewMaps
          const t = gl.createTexture();
          gl.activeTexture(gl.TEXTURE0 + u[p + 3]);
          gl.bindTexture(gl.TEXTURE_2D_ARRAY, t);
          for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D_ARRAY, name, gl.LINEAR);
          for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D_ARRAY, name, gl.CLAMP_TO_EDGE);
          gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
          gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
          gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, gl.DEPTH_COMPONENT24, u[p + 1], u[p + 1], u[p + 2]);
          objects[u[p]] = { kind: "texture", gl: t };
          for (let i = 0; i < u[p + 2]; i++) {
            const fbo = gl.createFramebuffer();
            gl.bindFramebuffer(gl.FRAMEBUFFER, fbo);
            gl.framebufferTextureLayer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, t, 0, i);
            gl.drawBuffers([gl.NONE]);
            gl.readBuffer(gl.NONE);
            if (gl.checkFramebufferStatus(gl.FRAMEBUFFER) !== gl.FRAMEBUFFER_COMPLETE) this.failures.push("no shadow map of " + u[p + 1] + " texels");
            objects[u[p + 4] + i] = { kind: "framebuffer", gl: fbo };
          }
          p += 5;
          break;
        }
        case 27: // BindMaps
          gl.activeTexture(gl.TEXTURE0 + u[p]);
          gl.bindTexture(gl.TEXTURE_2D_ARRAY, objects[u[p + 1]].gl);
          p += 2;
          break;
        case 28: { // BindFrame
          const o = objects[u[p++]];
          gl.bindFramebuffer(gl.FRAMEBUFFER, o ? o.gl : null);
          break;
        }
        case 29: // NewTarget
          objects[u[p]] = this.target(u[p + 1], u[p + 2], u[p + 3]);
          p += 4;
          break;
        case 30: // BindScene
          gl.bindFramebuffer(gl.FRAMEBUFFER, objects[u[p++]].scene);
          break;
        case 31: // BindPicture
          gl.bindFramebuffer(gl.FRAMEBUFFER, objects[u[p++]].picture.fbo);
          break;
        case 32: // Resolve
          this.resolve(objects[u[p++]]);
          break;
        case 33: { // Present
          const t = objects[u[p++]];
          this.blit(t.picture.fbo, null, t);
          break;
        }
        case 34: // Viewport
          gl.viewport(0, 0, u[p], u[p + 1]);
          p += 2;
          break;
        case 35: // Clear
          if (u[p]) gl.clearColor(f[p + 1], f[p + 2], f[p + 3], f[p + 4]);
          gl.clear((u[p] ? gl.COLOR_BUFFER_BIT : 0) | (u[p + 5] ? gl.DEPTH_BUFFER_BIT : 0));
          p += 6;
          break;
        case 36: // DepthTest
          set(gl.DEPTH_TEST, u[p++]);
          break;
        case 37: // DepthWrite
          gl.depthMask(u[p++] === 1);
          break;
        case 38: // DepthFar
          gl.depthFunc(u[p] ? gl.GEQUAL : gl.LEQUAL);
          gl.clearDepth(u[p++] ? 0 : 1);
          break;
        case 39: // DepthClamp
          set(this.clamp.DEPTH_CLAMP_EXT, u[p++]);
          break;
        case 40: // DepthOffset
          set(gl.POLYGON_OFFSET_FILL, f[p] || f[p + 1]);
          gl.polygonOffset(f[p], f[p + 1]);
          p += 2;
          break;
        case 41: // Blend
          set(gl.BLEND, u[p]);
          gl.blendFunc(gl.SRC_ALPHA, u[p++] === 2 ? gl.ONE : gl.ONE_MINUS_SRC_ALPHA);
          break;
        case 42: // Cull
          set(gl.CULL_FACE, u[p]);
          gl.cullFace(u[p++] === 2 ? gl.FRONT : gl.BACK);
          break;
        case 43: // Mirrored
          gl.frontFace(u[p++] ? gl.CW : gl.CCW);
          break;
        case 44: // Coverage
          set(gl.SAMPLE_ALPHA_TO_COVERAGE, u[p++]);
          break;
        case 45: // Wireframe
          this.polygon.polygonModeWEBGL(gl.FRONT_AND_BACK, u[p] ? this.polygon.LINE_WEBGL : this.polygon.FILL_WEBGL);
          set(this.polygon.POLYGON_OFFSET_LINE_WEBGL, u[p]);
          gl.polygonOffset(f[p + 1], f[p + 2]);
          p += 3;
          break;
        case 46: // DrawTriangle
          gl.bindVertexArray(this.empty);
          gl.drawArrays(gl.TRIANGLES, 0, 3);
          break;
        case 47: // DrawLines
          gl.drawArrays(gl.LINES, u[p], u[p + 1]);
          p += 2;
          break;
        case 48: // DrawTriangles
          gl.drawElements(gl.TRIANGLES, u[p++], gl.UNSIGNED_INT, 0);
          break;
        case 49: // DrawCommands
          this.drawCommands(u[p], u[p + 1], i32);
          p += 2;
          break;
        default:
          throw new Error("an unknown command at word " + (p - 1 - (address >> 2)));
      }
    }
  }
}
