import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { lent } from '#server/platform/http-out/connector.ts';
import { OriginPool } from '#server/platform/http-out/origin-pool.ts';

export type Echo = { pool: OriginPool; close(): Promise<void> };

const MAX_BODY = 256 * 1024;
/** Headers whose values are credentials by their name (interface rule 13 §6.3). */
const MASKED = /^(?:authorization|proxy-authorization|cookie|x-api-key|.*-(?:key|token|secret|auth|signature))$/i;

/**
 * The upstream of the demonstration route: answers what it was sent, so that a newcomer sees the injected header arrive. In place of a stored value it is
 * sent the name of its secret (templates/resolve.ts); other credentials are masked. It listens on an ephemeral loopback port and is reachable through
 * the gateway alone.
 */
export async function startEcho(): Promise<Echo> {
  // The gateway hangs up when its caller does.
  const server: Server = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as AddressInfo; // listening on TCP
  const pool = new OriginPool({
    connect: (received) =>
      new Promise((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...(received && { onread: lent(received) }) });
        socket.once('error', reject);
        socket.once('connect', () => resolve(socket.removeListener('error', reject)));
      }),
    host: 'the echo upstream',
    // All workspaces share them: many times what one of them may have under way.
    connections: 2_000,
    idleMs: 4_000,
    maxAgeMs: Number.POSITIVE_INFINITY,
  });
  return {
    pool,
    async close() {
      await pool.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY) chunks.push(chunk);
  }
  const url = req.url ?? '/';
  const mark = url.indexOf('?');
  const text = Buffer.concat(chunks).toString();
  const body = JSON.stringify(
    {
      method: req.method,
      path: mark < 0 ? url : url.slice(0, mark),
      query: Object.fromEntries(new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))),
      headers: headersOf(req.rawHeaders),
      ...(bytes > 0 && { body: parsed(text) }),
      ...(bytes > MAX_BODY && { truncated: true }),
    },
    null,
    2,
  );
  res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) });
  res.end(req.method === 'HEAD' ? undefined : body);
}

function headersOf(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    headers[name] = MASKED.test(name) ? masked(raw[i + 1] as string) : (raw[i + 1] as string);
  }
  return headers;
}

/** `Bearer [redacted]`: the scheme stays, and so do the names of secrets. */
function masked(value: string): string {
  const [scheme = ''] = /^[A-Za-z]{1,16} /.exec(value) ?? [];
  return MARKS.test(value.slice(scheme.length)) ? value : `${scheme}[redacted]`;
}
const MARKS = /^(?:\[redacted:secret:[\w.-]{1,128}\])+$/;

/** Longer and deeper bodies are shown as the text they are: laid out, every level would be indented once more in every line. */
const LONGEST_JSON = 64 * 1024;
const DEEPEST_JSON = 16;

function parsed(text: string): unknown {
  if (text.length > LONGEST_JSON || isDeep(text)) return text;
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[{\]}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > DEEPEST_JSON) return true;
  }
  return false;
}
