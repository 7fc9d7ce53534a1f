import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Of all informational answers to one request together; more is left to the parser, which refuses it. */
const MOST_BYTES = 16 * 1024;
const ONE = 0x31;
const START = Buffer.from('HTTP/1.');

const expectAnswer = new WeakMap<object, () => void>();

// The client says here that the head of a request goes out: what its socket reads next is the start of an answer, and never part of a body.
subscribe('undici:client:sendHeaders', (message) => {
  expectAnswer.get((message as { socket: object }).socket)?.();
});

/**
 * Takes informational answers (RFC 9110 §15.2: any number of them, asked for or not) out of what the HTTP client reads from this socket, which
 * would end the connection at a 100. They are not forwarded (interface rule 12 §11). A 101 stays, and so does everything that is not a whole,
 * well-formed head: the client's parser judges it.
 */
export function swallowInformational(socket: Socket): void {
  const read = socket.read.bind(socket);
  let atStart = false;
  let swallowed = 0;
  let held: Buffer | undefined;
  expectAnswer.set(socket, () => {
    atStart = true;
    swallowed = 0;
  });

  socket.read = (size?: number) => {
    let chunk: Buffer | null = read(size);
    while (atStart && chunk !== null) {
      const bytes: Buffer = held === undefined ? chunk : Buffer.concat([held, chunk]);
      held = undefined;
      const end = informationalEnd(bytes);
      if (end === 0 || swallowed + bytes.length > MOST_BYTES) {
        atStart = false;
        return bytes;
      }
      if (end === undefined) held = bytes;
      else {
        swallowed += end;
        if (end < bytes.length) {
          chunk = bytes.subarray(end);
          continue;
        }
      }
      chunk = read(size);
    }
    return chunk;
  };
}

/** Where the informational head at the start ends; 0 when there is none, undefined when more bytes must tell. */
function informationalEnd(bytes: Buffer): number | undefined {
  if (bytes.length > 9 && bytes[9] !== ONE) return 0; // nearly every answer
  if (!START.subarray(0, bytes.length).equals(bytes.subarray(0, START.length))) return 0;
  if (bytes.length < 13) return undefined;
  const status = bytes.toString('latin1', 8, 13);
  if (!/^ 1\d\d[ \r]$/.test(status) || status.startsWith(' 101')) return 0;
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, end === -1 ? bytes.length : end);
  if (/(^|[^\r])\n/.test(head)) return 0; // lines end in CR LF, or where this head ends is a matter of opinion
  return end === -1 ? undefined : end + 4;
}
