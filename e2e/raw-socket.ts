import { connect } from 'node:net';

export type RawAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** How many status lines came back: more than expected means that something of the request was taken for another request. */
  answers: number;
};

/** Sends bytes as they are and collects what comes back until the server closes the connection. */
export function exchange(port: number, bytes: string | Buffer | readonly (string | Buffer)[]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const text = () => Buffer.concat(chunks).toString('latin1');
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection stays open after: ${text() || 'no answer'}`));
    }, PATIENCE_MS);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      resolve(parsed(text()));
    });
    socket.on('connect', () => {
      for (const part of Array.isArray(bytes) ? bytes : [bytes]) socket.write(part);
    });
  });
}

/** Less than the 65 s after which the gateway closes a connection that it left open. */
const PATIENCE_MS = 60_000;

function parsed(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const lines = head.split('\r\n').slice(1);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = rest.join('\r\n\r\n');
  return {
    status: Number(head.split(' ')[1] ?? 0),
    headers,
    body: headers['transfer-encoding'] === 'chunked' ? unchunked(body) : body,
    answers: text.match(/HTTP\/1\.[01] [1-5]\d\d /g)?.length ?? 0,
  };
}

/** The chunks of one body; what follows it is left as it is. */
function unchunked(text: string): string {
  let out = '';
  for (let at = 0; ; ) {
    const line = /^([0-9a-f]+)\r\n/i.exec(text.slice(at, at + 20));
    const size = Number.parseInt(line?.[1] ?? '0', 16);
    if (!line || size === 0) return out + text.slice(at).replace(/^0\r\n\r\n/, '');
    out += text.slice(at + line[0].length, at + line[0].length + size);
    at += line[0].length + size + 2;
  }
}
