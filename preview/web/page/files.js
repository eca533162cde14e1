// The file system of the viewer: what lies below /served is fetched from where the
// page comes from, by ranges, all else is not there. The program sees files as on a
// disk and reads the parts that it needs.

const ROOT = "/served/";
const HEAD = 256 << 10; // bytes of the first request for a file
const AHEAD = 1 << 20; // bytes of further ones, at least
const KEEP = 64 << 20; // bytes of files that are closed, at most
const FRESH = 5000; // ms for which one is taken to be as it was

// Names of files; all others are folders, of which nothing is asked for.
const FILE = /\.(json|untold|utex|png|jpe?g|webp|ktx2|tga|bmp|tiff?|astc)$/i;

const fault = (code, text) => Object.assign(new Error(text || code), { code });

const DIR_MODE = 0o040755;
const FILE_MODE = 0o100444;

const info = (directory, size, time, ino) => ({
  dev: 1, ino, mode: directory ? DIR_MODE : FILE_MODE, nlink: 1, uid: 0, gid: 0, rdev: 0,
  size, blksize: 4096, blocks: Math.ceil(size / 512), atimeMs: time, mtimeMs: time, ctimeMs: time,
  isDirectory: () => directory,
});

// One file as it was answered first.
class File {
  constructor(files, url, ino) {
    Object.assign(this, { files, url, ino, size: 0, time: 0, tag: null, parts: [], bytes: 0, opened: 0, at: performance.now() });
  }

  // ask fetches a range and keeps it.
  async ask(from, to) {
    const { files } = this;
    const whole = this.url.pathname.endsWith(".json");
    files.active++;
    files.requests++;
    try {
      const r = await fetch(this.url, { headers: whole ? {} : { Range: `bytes=${from}-${to - 1}` }, credentials: "same-origin" });
      if (r.status === 416 && from === 0) return; // it is empty
      if (!r.ok) throw fault(r.status === 404 || r.status === 410 ? "ENOENT" : r.status === 403 ? "EACCES" : "EIO", `${this.url.pathname}: ${r.status} ${r.statusText}`);
      const data = new Uint8Array(await r.arrayBuffer());
      const range = r.status === 206 && /bytes (\d+)-\d+\/(\d+)/.exec(r.headers.get("Content-Range") || "");
      const at = range ? +range[1] : 0;
      const size = range ? +range[2] : data.length;
      const tag = r.headers.get("ETag");
      if (this.bytes && (size !== this.size || tag !== this.tag)) throw fault("EIO", `${this.url.pathname} has changed`);
      this.size = size;
      this.tag = tag;
      this.time = Date.parse(r.headers.get("Last-Modified")) || 0;
      if (data.length) this.parts.push({ from: at, to: at + data.length, data });
      this.bytes += data.length;
      files.loaded += data.length;
    } catch (e) {
      if (!e.code || typeof e.code !== "string") e = fault("EIO", `${this.url.pathname}: ${e.message}`);
      if (e.code === "EIO") files.failed(e.message);
      throw e;
    } finally {
      files.active--;
    }
  }

  // read copies what there is from a place on, at most length bytes.
  async read(buffer, offset, length, position) {
    length = Math.max(0, Math.min(length, this.size - position));
    let done = 0;
    while (done < length) {
      const at = position + done;
      const part = this.parts.find((p) => p.from <= at && at < p.to);
      if (!part) {
        const next = this.parts.reduce((n, p) => (p.from > at ? Math.min(n, p.from) : n), this.size);
        await this.ask(at, Math.min(next, Math.max(position + length, at + AHEAD)));
        if (!this.parts.some((p) => p.from <= at && at < p.to)) throw fault("EIO", `${this.url.pathname}: the server sent another range`);
        continue;
      }
      const n = Math.min(length - done, part.to - at);
      buffer.set(part.data.subarray(at - part.from, at - part.from + n), offset + done);
      done += n;
    }
    return done;
  }
}

export class Files {
  // failed is told what cannot be loaded, but for files that are not there.
  constructor(base, failed) {
    Object.assign(this, { base, failed, known: new Map(), handles: new Map(), next: 3, active: 0, requests: 0, loaded: 0 });
  }

  // find returns a file, or null for a folder.
  async find(path) {
    if (path + "/" === ROOT) return null;
    if (!path.startsWith(ROOT) || path.includes("/.")) throw fault("ENOENT");
    if (!FILE.test(path)) return null;
    let entry = this.known.get(path);
    if (!entry || (!entry.file.opened && performance.now() - entry.file.at > FRESH)) {
      const url = new URL(path.slice(ROOT.length).split("/").map(encodeURIComponent).join("/"), this.base);
      const file = new File(this, url, ++this.next);
      entry = { file, head: file.ask(0, HEAD) };
      this.known.set(path, entry);
      entry.head.catch(() => this.known.delete(path));
    }
    await entry.head;
    this.forget();
    return entry.file;
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
