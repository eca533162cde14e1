// What is kept compressed, unpacked by the browser unless the server has done that.
const MAGIC = [0x1f, 0x8b];

// unpacked returns a body as it was before gzip. told hears of the length of each part that
// comes.
export async function unpacked(body, told = () => {}) {
  const reader = body.getReader();
  const next = async () => {
    const { done, value } = await reader.read();
    if (!done) told(value.length);
    return value;
  };
  let head = await next();
  while (head && head.length < MAGIC.length) { // a part may be a single byte
    const more = await next();
    if (!more) break;
    const both = new Uint8Array(head.length + more.length);
    both.set(head);
    both.set(more, head.length);
    head = both;
  }
  const whole = new ReadableStream({
    start: (c) => (head ? c.enqueue(head) : c.close()),
    async pull(c) {
      const value = await next();
      value ? c.enqueue(value) : c.close();
    },
    cancel: (why) => reader.cancel(why),
  });
  const packed = head && MAGIC.every((b, i) => head[i] === b);
  return packed ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
}
