// What the page leaves out of a manifest: the table of what objects were found to be, most of
// the text of a large scene, which nothing that is shown goes by. It is left out while the
// text comes, part by part, which takes a tenth of the time that the program needs to read
// over it in one task. The line feeds in it stay, so that messages about the rest name the
// right lines.
const LEFT_OUT = "object_classification";

const QUOTE = 0x22, BACKSLASH = 0x5c, OPEN = 0x5b, CLOSE = 0x5d, BEGIN = 0x7b, END = 0x7d, COLON = 0x3a, FEED = 0x0a;
export { BEGIN };

// MOST is how many bytes may stay, those that the program reads at most.
const MOST = 1 << 29;

export class Lean {
  // depth counts brackets; key holds the last string at depth 1, null while none may be a
  // key; due says that its value begins; skipped are line feeds, -1 outside the table.
  constructor() {
    Object.assign(this, { parts: [], size: 0, depth: 0, text: false, escaped: false, key: null, due: false, skipped: -1 });
  }

  #add(part) {
    if (!part.length) return;
    this.parts.push(part);
    this.size += part.length;
  }

  // push takes the next bytes of a text, which are kept.
  push(data) {
    let from = 0; // of what stays
    let { depth, text, escaped } = this;
    for (let i = 0; i < data.length; i++) {
      const c = data[i];
      const top = depth === 1 && this.skipped < 0;
      if (text) {
        if (escaped) escaped = false;
        else if (c === BACKSLASH) escaped = true;
        else if (c === QUOTE) text = false;
        // More than the key has is another key.
        if (top && text && this.key.length <= LEFT_OUT.length) this.key += String.fromCharCode(c);
        continue;
      }
      switch (c) {
        case QUOTE:
          text = true;
          if (top) this.key = "";
          break;
        case COLON:
          if (top) this.due = this.key === LEFT_OUT;
          continue; // its value is due
        case OPEN:
        case BEGIN:
          depth++;
          if (top && this.due && c === BEGIN) {
            this.#add(data.subarray(from, i + 1));
            this.skipped = 0;
          }
          break;
        case CLOSE:
        case END:
          depth--;
          if (this.skipped >= 0 && depth === 1) {
            this.#add(new Uint8Array(this.skipped).fill(FEED));
            this.skipped = -1;
            from = i;
          }
          break;
        case FEED:
          if (this.skipped >= 0) this.skipped++;
          continue;
        case 0x20:
        case 0x09:
        case 0x0d:
          continue;
      }
      this.due = false;
    }
    if (this.skipped < 0) this.#add(data.subarray(from));
    Object.assign(this, { depth, text, escaped });
  }

  // end returns what stays.
  end() {
    const all = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

// lean reads a body: what stays of it, and how many bytes it had. It refuses more than most.
export async function lean(body, most = MOST) {
  const text = new Lean(), reader = body.getReader();
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return { data: text.end(), size };
    size += value.length;
    text.push(value);
    if (text.size > most) {
      reader.cancel().catch(() => {});
      throw new Error(`the manifest has more than ${most} bytes`);
    }
  }
}
