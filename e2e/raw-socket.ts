import { connect } from 'node:net';

export type RawAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** How many status lines came back: more than expected means that something of the request was taken for another request. */
  answers: number;
  closed: boolean;
};

/**
 * Sends bytes as they are and collects what comes back until the server hangs up or has been quiet for a while after an answer. One that has only begun is
 * waited for: on a busy machine a head may come well before its body.
 */
export function exchange(
  port: number,
  bytes: string | Buffer | readonly (string | Buffer)[],
  quietMs = 150,
  longestMs = 8_000,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    let closed = false;
    let quiet: NodeJS.Timeout | undefined;
    const done = () => {
      clearTimeout(quiet);
      clearTimeout(longest);
      socket.destroy();
      resolve({ ...parsed(Buffer.concat(chunks).toString('latin1')), closed });
    };
    const longest = setTimeout(done, longestMs);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      clearTimeout(quiet);
      if (hasEnded(Buffer.concat(chunks).toString('latin1'))) quiet = setTimeout(done, quietMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      closed = true;
      done();
    });
    socket.on('connect', () => {
      for (const part of Array.isArray(bytes) ? bytes : [bytes]) socket.write(part);
    });
  });
}

/** Whether the first answer is all there. */
function hasEnded(text: string): boolean {
  const split = text.indexOf('\r\n\r\n');
  if (split < 0) return false;
  const [head, body] = [text.slice(0, split), text.slice(split + 4)];
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return /(?:^|\r\n)0\r\n\r\n/.test(body);
  return length === undefined || body.length >= Number(length);
}

function parsed(text: string): Omit<RawAnswer, 'closed'> {
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
