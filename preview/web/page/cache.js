// Files on the disk of the browser, shared by the page, its workers, other pages of the
// same server and later visits. They lie in IndexedDB, which keeps bytes and what is
// known of them together in one transaction and is there without https, unlike caches
// of service workers. Whatever fails costs the cache alone: then all is fetched.

export const BUDGET = 500e6; // bytes, as of untold's cache on a disk
const KEPT = 0.75; // of the budget is left when it was exceeded
const HOLD = 10e3; // ms for which what was used stays
const TOUCH = 1000; // ms after which times of use are written

const done = (request) => new Promise((ok, failed) => {
  request.onsuccess = () => ok(request.result);
  request.onerror = () => failed(request.error);
});

const ended = (tx) => new Promise((ok, failed) => {
  tx.oncomplete = () => ok();
  tx.onabort = () => failed(tx.error || new Error("aborted"));
});

// partsOf is the range of keys that the parts of a file have.
const partsOf = (url) => IDBKeyRange.bound([url, 0], [url, Infinity]);

export class DiskCache {
  // open returns a cache of so many bytes; null where there is none, or shall be none:
  // then what was there is removed.
  static async open(budget = BUDGET, name = "untold") {
    try {
      if (!(budget > 0)) {
        indexedDB.deleteDatabase(name);
        return null;
      }
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("files", { keyPath: "url" }).createIndex("used", "used");
        request.result.createObjectStore("parts");
        request.result.createObjectStore("sums");
      };
      return new DiskCache(await done(request), budget);
    } catch {
      return null;
    }
  }

  constructor(db, budget) {
    Object.assign(this, { db, budget, used: new Map(), timer: 0 });
    db.onversionchange = () => this.close(); // another page removes it
    db.onclose = () => (this.db = null);
  }

  close() {
    if (this.db) this.db.close();
    this.db = null;
  }

  // attempt does something with the stores, in one transaction; undefined when that fails.
  async attempt(mode, work) {
    if (!this.db) return undefined;
    let tx;
    try {
      tx = this.db.transaction(["files", "parts", "sums"], mode);
      const end = ended(tx);
      end.catch(() => {});
      const value = await work(tx.objectStore("files"), tx.objectStore("parts"), tx.objectStore("sums"));
      if (mode === "readwrite") await end;
      return value;
    } catch (e) {
      try {
        tx.abort(); // all of it or nothing
      } catch {
        // it has ended
      }
      if (e.name === "QuotaExceededError") throw e;
      return undefined;
    }
  }

  // find returns what is known of a file: { url, tag, modified, size, version, parts:
  // [[from, to], ...], bytes, used }, or undefined.
  async find(url) {
    const f = await this.attempt("readonly", (files) => done(files.get(url)));
    if (f) this.touch(url);
    return f;
  }

  // read returns the bytes of the part that begins at a place, or undefined.
  async read(url, from) {
    const data = await this.attempt("readonly", (_, parts) => done(parts.get([url, from])));
    if (data) this.touch(url);
    return data && new Uint8Array(data);
  }

  // touch takes note that a file is used.
  touch(url) {
    this.used.set(url, Date.now());
    this.timer = this.timer || setTimeout(() => this.flush(), TOUCH);
  }

  async flush() {
    const list = [...this.used];
    this.used.clear();
    this.timer = 0;
    await this.attempt("readwrite", (files) => Promise.all(list.map(async ([url, at]) => {
      const f = await done(files.get(url));
      if (f && f.used < at) files.put({ ...f, used: at });
    }))).catch(() => {});
  }

  // mark says with which version of the manifest a file was found to be as it was.
  mark(url, version) {
    return this.attempt("readwrite", async (files) => {
      const f = await done(files.get(url));
      if (f) files.put({ ...f, version });
    }).catch(() => {});
  }

  drop(url) {
    return this.attempt("readwrite", async (files, parts, sums) => {
      const f = await done(files.get(url));
      if (!f) return;
      sums.put(((await done(sums.get("bytes"))) || 0) - f.bytes, "bytes");
      parts.delete(partsOf(url));
      files.delete(url);
    }).catch(() => {});
  }

  // store adds a part of a file. What is there of another version of it goes. A disk that
  // is full counts as a smaller budget.
  async store({ url, tag, modified, size, version }, from, data) {
    if (data.length > this.budget) return;
    const bytes = data.byteLength === data.buffer.byteLength ? data.buffer : data.slice().buffer;
    for (let most = this.budget, sum = 0, tries = 0; tries < 4; tries++) {
      try {
        await this.attempt("readwrite", async (files, parts, sums) => {
          sum = (await done(sums.get("bytes"))) || 0;
          if (tries > 0) sum = await this.evict(files, parts, sum, most, url);
          let f = await done(files.get(url));
          if (f && (f.size !== size || f.tag !== tag || f.modified !== modified)) {
            parts.delete(partsOf(url));
            sum -= f.bytes;
            f = null;
          }
          f = f || { url, tag, modified, size, parts: [], bytes: 0 };
          const old = f.parts.find((p) => p[0] === from);
          f.parts = f.parts.filter((p) => p !== old).concat([[from, from + data.length]]);
          const more = data.length - (old ? old[1] - old[0] : 0);
          Object.assign(f, { version, bytes: f.bytes + more, used: Date.now() });
          sum += more;
          if (sum > most) sum = await this.evict(files, parts, sum, KEPT * most, url);
          parts.put(bytes, [url, from]);
          files.put(f);
          sums.put(sum, "bytes");
        });
        return;
      } catch { // of quota
        most = KEPT * Math.min(sum, most);
      }
    }
  }

  // evict removes the files that were used longest ago until at most so many bytes are
  // left, but for one, and for what is in use, and returns what is left.
  evict(files, parts, sum, most, but) {
    return new Promise((ok, failed) => {
      const held = Date.now() - HOLD;
      const cursor = files.index("used").openCursor();
      cursor.onerror = () => failed(cursor.error);
      cursor.onsuccess = () => {
        const at = cursor.result;
        if (!at || sum <= most || at.value.used > held) return ok(sum);
        if (at.value.url !== but && !(this.used.get(at.value.url) > held)) {
          sum -= at.value.bytes;
          parts.delete(partsOf(at.value.url));
          at.delete();
        }
        at.continue();
      };
    });
  }

  // usage returns how many files there are, and their bytes.
  async usage() {
    const list = (await this.attempt("readonly", (files) => done(files.getAll()))) || [];
    return { files: list.length, bytes: list.reduce((n, f) => n + f.bytes, 0), urls: list.map((f) => f.url) };
  }
}
