// The file system of the viewer: what lies below /served is fetched from where the
// page comes from, by ranges, all else is not there. The program sees files as on a
// disk and reads the parts that it needs. What was fetched is kept on the disk of the
// browser (cache.js); as long as the manifest is the same it serves without a request.
import { DiskCache } from "./cache.js";
import { unpacked } from "./gzip.js";
import { BEGIN, lean } from "./lean.js";

const ROOT = "/served/";
const HEAD = 256 << 10; // bytes of the first request for a file
const WHOLE = 2 << 20; // of one that will be read whole, at most
const AHEAD = 1 << 20; // bytes of further ones, at least
const KEEP = 32 << 20; // bytes of files that are closed, at most
const FRESH = 5000; // ms for which one is taken to be as it was, where no manifest says so

// Names of files; all others are folders, of which nothing is asked for.
const FILE = /\.(json|untold|utex|png|jpe?g|webp|ktx2|tga|bmp|tiff?|astc|cube)$/i;

const fault = (code, text) => Object.assign(new Error(text || code), { code });

const DIR_MODE = 0o040755;
const FILE_MODE = 0o100444;

const info = (directory, size, time, ino) => ({
  dev: 1, ino, mode: directory ? DIR_MODE : FILE_MODE, nlink: 1, uid: 0, gid: 0, rdev: 0,
  size, blksize: 4096, blocks: Math.ceil(size / 512), atimeMs: time, mtimeMs: time, ctimeMs: time,
  isDirectory: () => directory,
});

// whole reads all of an answer.
async function whole(answer) {
  const data = new Uint8Array(await answer.arrayBuffer());
  return { data, size: data.length };
}

// One file as it was answered first. Of the manifest, scene, a part is left out.
class File {
  constructor(files, url) {
    const stored = []; // places of parts on the disk
    Object.assign(this, { files, url, stored, ino: 0, size: 0, time: 0, tag: null, modified: null, version: null, parts: [], bytes: 0, opened: 0, at: Infinity });
    this.whole = url.pathname.endsWith(".json");
    this.scene = files.isScene(url);
  }

  // open finds what the disk has of the file, or asks for its beginning.
  async open() {
    await this.begin();
    this.at = performance.now();
  }

  async begin() {
    const { files } = this;
    const disk = this.whole ? null : await files.disk;
    const kept = disk && (await disk.find(this.url.href));
    if (kept && (await this.valid(kept))) {
      this.is(kept.size, kept.tag, kept.modified);
      this.stored = kept.parts.map((p) => p[0]);
      return;
    }
    if (!this.bytes) await this.ask(0, files.first(this.url));
  }

  // valid reports whether a file on the disk is that of the server, which is asked when
  // the manifest is not the one with which it was stored. What it answers of another
  // version is taken; when it does not answer, the old one serves.
  async valid(kept) {
    const { files } = this;
    if (files.version && kept.version === files.version) return true;
    if (!kept.tag || this.url.origin !== location.origin) return false;
    try {
      if (!(await this.ask(0, files.first(this.url), { "If-None-Match": kept.tag }))) return false;
    } catch (e) {
      if (e.code === "EIO") return true;
      throw e;
    }
    (await files.disk).mark(this.url.href, files.version);
    return true;
  }

  // is takes note of which version of the file this is.
  is(size, tag, modified) {
    Object.assign(this, { size, tag, modified, version: this.files.version });
    this.time = Date.parse(modified) || 0;
    this.ino = this.files.number(`${this.url.href} ${tag || modified} ${size}`);
  }

  // ask fetches a range and keeps it. It returns true when the file has not changed.
  async ask(from, to, condition) {
    const { files } = this;
    files.active++;
    files.requests++;
    try {
      if (this.scene && files.packed && (await this.unpack(files.packed))) return false;
      const headers = this.whole ? {} : { Range: `bytes=${from}-${to - 1}`, ...condition };
      const r = await fetch(this.url, { headers, credentials: "same-origin", cache: this.whole ? "no-cache" : (await files.disk) ? "no-store" : "default" });
      if (r.status === 304 && condition) return true;
      if (r.status === 416 && from === 0) return false; // it is empty
      if (!r.ok) throw fault(r.status === 404 || r.status === 410 ? "ENOENT" : r.status === 403 ? "EACCES" : "EIO", `${this.url.pathname}: ${r.status} ${r.statusText}`);
      const { data, size: came } = this.scene ? await lean(r.body) : await whole(r);
      const range = r.status === 206 && /bytes (\d+)-\d+\/(\d+)/.exec(r.headers.get("Content-Range") || "");
      const at = range ? +range[1] : 0;
      const size = range ? +range[2] : data.length;
      const tag = r.headers.get("ETag");
      if ((this.bytes || this.stored.length) && (size !== this.size || tag !== this.tag)) {
        files.distrust(this);
        throw fault("EIO", `${this.url.pathname} has changed`);
      }
      this.is(size, tag, r.headers.get("Last-Modified"));
      if (data.length) this.keep(at, data);
      files.loaded += came;
      files.told(files.loaded);
      if (this.whole) files.manifest(this);
      const disk = !this.whole && (await files.disk);
      if (disk) disk.store({ url: this.url.href, tag, modified: this.modified, size, version: this.version }, at, data);
      return false;
    } catch (e) {
      if (!e.code || typeof e.code !== "string") e = fault("EIO", `${this.url.pathname}: ${e.message}`);
      if (e.code === "EIO") files.failed(e.message);
      throw e;
    } finally {
      files.active--;
    }
  }

  // unpack takes the manifest from its compressed copy, which is named by its content. It
  // returns false when that is not there, or damaged: another one may have been published,
  // and servers may answer with a page in place of what is not there.
  async unpack(address) {
    const { files } = this;
    try {
      const r = await fetch(address, { credentials: "same-origin" });
      if (!r.ok) throw new Error(`${r.status} ${r.statusText}`);
      let came = 0;
      const { data } = await lean(await unpacked(r.body, (n) => (came += n)));
      if (data[0] !== BEGIN) throw new Error("no manifest");
      files.loaded += came;
      files.told(files.loaded);
      this.parts = [];
      this.bytes = 0;
      this.is(data.length, address, r.headers.get("Last-Modified"));
      this.keep(0, data);
    } catch {
      files.packed = "";
      return false;
    }
    files.manifest(this);
    return true;
  }

  keep(at, data) {
    this.parts.push({ from: at, to: at + data.length, data });
    this.bytes += data.length;
  }

  // part returns what holds a place: of the memory, else of the disk.
  async part(at) {
    const has = (p) => p.from <= at && at < p.to;
    for (;;) {
      const part = this.parts.find(has);
      if (part) return part;
      const from = this.stored.reduce((n, p) => (p <= at ? Math.max(n, p) : n), -1);
      if (from < 0) return null;
      this.stored = this.stored.filter((p) => p !== from);
      const data = await (await this.files.disk).read(this.url.href, from);
      if (data && from + data.length <= this.size) this.keep(from, data);
    }
  }

  // read copies what there is from a place on, at most length bytes.
  async read(buffer, offset, length, position) {
    length = Math.max(0, Math.min(length, this.size - position));
    let done = 0;
    while (done < length) {
      const at = position + done;
      let part = await this.part(at);
      if (!part) {
        const next = [...this.parts.map((p) => p.from), ...this.stored].reduce((n, p) => (p > at ? Math.min(n, p) : n), this.size);
        await this.ask(at, Math.min(next, Math.max(position + length, at + AHEAD)));
        part = await this.part(at);
        if (!part) throw fault("EIO", `${this.url.pathname}: the server sent another range`);
      }
      const n = Math.min(length - done, part.to - at);
      buffer.set(part.data.subarray(at - part.from, at - part.from + n), offset + done);
      done += n;
    }
    return done;
  }
}

export class Files {
  // settings are the base of all files, as text; scene, the path of the manifest below
  // it; packed, the address of a copy of that as gzip, if there is one; version, by which it
  // is told from others, null while it is not known; cache, bytes of the disk cache. failed
  // is told what cannot be loaded, but for files that are not there; told how many bytes have
  // come; renewed of a version of the manifest.
  constructor(settings, failed, told = () => {}, renewed = () => {}) {
    Object.assign(this, { failed, told, renewed, known: new Map(), handles: new Map(), numbers: new Map(), expected: new Map(), next: 3, active: 0, requests: 0, loaded: 0, said: "" });
    this.set(settings);
    this.packed = settings.packed || "";
    this.disk = DiskCache.open(settings.cache);
  }

  set({ base, scene, version }) {
    if (base !== undefined) this.base = base;
    if (scene !== undefined) this.scene = scene;
    if (version !== undefined) this.version = version;
  }

  // close gives the disk back.
  close() {
    this.disk.then((d) => d && d.close());
  }

  // isScene reports whether an address is that of the manifest.
  isScene(url) {
    return url.href === this.url(ROOT + this.scene).href;
  }

  // manifest takes note of the version of the manifest.
  manifest(file) {
    const version = file.tag || file.modified;
    if (!file.scene || version === this.version) return;
    this.version = version;
    this.renewed(version);
  }

  // number returns the number of a version of a file, always the same.
  number(name) {
    if (!this.numbers.has(name)) this.numbers.set(name, ++this.next);
    return this.numbers.get(name);
  }

  url(path) {
    return new URL(path.slice(ROOT.length).split("/").map(encodeURIComponent).join("/"), this.base);
  }

  // fresh reports whether a file is taken to be as it was.
  fresh(file) {
    if (file.opened || performance.now() - file.at <= FRESH) return true;
    return !file.whole && this.version && file.version === this.version;
  }

  // find returns a file, or null for a folder.
  async find(path) {
    if (path + "/" === ROOT) return null;
    if (!path.startsWith(ROOT) || path.includes("/.")) throw fault("ENOENT");
    if (!FILE.test(path)) return null;
    let entry = this.known.get(path);
    if (!entry || !this.fresh(entry.file)) {
      const file = new File(this, this.url(path));
      entry = { file, head: file.open() };
      this.known.set(path, entry);
      entry.head.catch(() => this.known.get(path) === entry && this.known.delete(path));
    }
    await entry.head;
    this.forget();
    return entry.file;
  }

  // expect takes note of a file that will be read whole, and of its size.
  expect(path, size) {
    this.expected.set(this.url(path).href, size);
  }

  // first is how many bytes of a file are asked for first: what will be read whole comes
  // in one turn of the network, unless it is large.
  first(url) {
    return Math.max(HEAD, Math.min(WHOLE, this.expected.get(url.href) || 0));
  }

  // distrust forgets what is kept of a file, or of the one at a path: it makes no sense.
  async distrust(what) {
    const url = what.url || this.url(what);
    for (const [path, { file }] of this.known) if (file.url.href === url.href) this.known.delete(path);
    const disk = await this.disk;
    if (disk) disk.drop(url.href);
  }

  // forget drops files that are closed, the oldest first, beyond what is kept.
  forget() {
    let sum = 0;
    for (const { file } of this.known.values()) sum += file.bytes;
    for (const [path, { file }] of this.known) {
      if (sum <= KEEP) return;
      if (!file.opened && performance.now() - file.at > 1000) {
        this.known.delete(path);
        sum -= file.bytes;
      }
    }
  }

  // fs is what the program calls, in the form of Node.js.
  fs() {
    const answer = (promise, callback) => promise.then((v) => callback(null, v), (e) => callback(e.code ? e : fault("EIO", e.message)));
    const refuse = (...args) => args[args.length - 1](fault("EROFS"));
    const stat = async (path) => {
      const f = await this.find(path.replace(/\/+$/, ""));
      return f ? info(false, f.size, f.time, f.ino) : info(true, 0, 0, 2);
    };
    let line = "";
    const text = new TextDecoder();
    return {
      constants: { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_TRUNC: 512, O_APPEND: 1024, O_EXCL: 128, O_DIRECTORY: 65536 },
      writeSync(fd, data) {
        line += text.decode(data, { stream: true });
        const lines = line.split("\n");
        line = lines.pop();
        if (fd === 2 && lines.length) this.said = lines[lines.length - 1];
        lines.forEach((l) => (fd === 2 ? console.error(l) : console.log(l)));
        return data.length;
      },
      write(fd, data, offset, length, position, callback) {
        callback(null, this.writeSync(fd, data.subarray(offset, offset + length)));
      },
      open: (path, flags, mode, callback) => {
        if (flags & 3) return callback(fault("EROFS"));
        answer(this.find(path.replace(/\/+$/, "")).then((file) => {
          const fd = this.next++;
          if (file) file.opened++;
          this.handles.set(fd, { file, position: 0 });
          return fd;
        }), callback);
      },
      close: (fd, callback) => {
        const h = this.handles.get(fd);
        this.handles.delete(fd);
        if (h && h.file) {
          h.file.opened--;
          h.file.at = performance.now();
          // Who reads the manifest again looks for another version, of which no copy is known.
          if (h.file.scene) this.packed = "";
        }
        callback(h ? null : fault("EBADF"));
      },
      fstat: (fd, callback) => {
        const h = this.handles.get(fd);
        if (!h) return callback(fault("EBADF"));
        callback(null, h.file ? info(false, h.file.size, h.file.time, h.file.ino) : info(true, 0, 0, 2));
      },
      stat: (path, callback) => answer(stat(path), callback),
      lstat: (path, callback) => answer(stat(path), callback),
      read: (fd, buffer, offset, length, position, callback) => {
        const h = this.handles.get(fd);
        if (!h || !h.file) return callback(fault(h ? "EISDIR" : "EBADF"));
        const at = position === null ? h.position : Number(position);
        answer(h.file.read(buffer, offset, length, at).then((n) => {
          if (position === null) h.position += n;
          return n;
        }), callback);
      },
      readdir: (path, callback) => callback(null, []),
      fsync: (fd, callback) => callback(null),
      readlink: (path, callback) => callback(fault("EINVAL")),
      chmod: refuse, chown: refuse, fchmod: refuse, fchown: refuse, ftruncate: refuse, lchown: refuse, link: refuse, mkdir: refuse,
      rename: refuse, rmdir: refuse, symlink: refuse, truncate: refuse, unlink: refuse, utimes: refuse,
    };
  }
}
