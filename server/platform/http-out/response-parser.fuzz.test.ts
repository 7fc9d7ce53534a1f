import assert from 'node:assert/strict';
import http from 'node:http';
import { createServer, type Socket } from 'node:net';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { SEED, THOROUGH } from '#server/testing/thorough.ts';
import { ResponseParser } from './response-parser.ts';
import { type RawResponse, rawResponses } from './responses.fixture.ts';
import { keyOf, listen, poolsOf } from './upstream.fixture.ts';

// Our upstream client against Node's, over real sockets. Either both read the same status, headers and body, or ours refuses the response. It may refuse
// more than Node, for the reasons in STRICTER, and accepts more only as `withoutTab`, `withoutSurplus` and `withoutChunkDetails` say.

const CASES = THOROUGH ? 10_000 : 400;
const AT_ONCE = 24;
const HEAD_LIMIT = 64 * 1024;

/** What ours refuses although Node accepts it, by our message. */
const STRICTER: Record<string, string> = {
  'the status line is malformed': 'Node skips blank lines before it and takes HTTP/2.0 and ICY for HTTP/1',
  'the response is not HTTP/1': 'the same, noticed before the line ends',
  'Transfer-Encoding is not chunked alone':
    'we ask for no other coding, and RFC 9112 §6.1 has none in HTTP/1.0; Node reads until the connection closes',
  'there are two Transfer-Encoding headers': 'other parsers read only one of them',
  'a chunk has no size': 'Node skips white space before a chunk size',
  'the upstream switched protocols without being asked': 'RFC 9110 §7.8 forbids it; Node ends the response with its head',
  'a line between chunks is too long': 'chunk extensions carry nothing for us, so 4 KB of them are enough',
};

type Read = { status: number; headers: string[]; body: string };
type Outcome = Read | { refused: string };
const isRefused = (outcome: Outcome): outcome is { refused: string } => 'refused' in outcome;

const sending = new Map<string, RawResponse>();
const port = await listen(
  createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    let request = '';
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1');
      const response = sending.get(/^\S+ \/(\S+) /.exec(request)?.[1] ?? '');
      if (request.endsWith('\r\n\r\n') && response) void send(socket, response);
    });
  }),
);
const pools = poolsOf();

async function send(socket: Socket, { text, cuts }: RawResponse): Promise<void> {
  for (const [i, from] of [0, ...cuts].entries()) {
    if (i > 0) await setImmediate();
    if (socket.destroyed) return;
    socket.write(Buffer.from(text.slice(from, cuts[i]), 'latin1'));
  }
  socket.end();
}

function readWithNode(path: string, response: RawResponse): Promise<Outcome> {
  sending.set(path, response);
  return new Promise((resolve) => {
    const { method } = response;
    const request = http.request({ port, host: '127.0.0.1', path: `/${path}`, method, agent: false, maxHeaderSize: HEAD_LIMIT });
    request.maxHeadersCount = 0;
    request.on('error', (error) => resolve({ refused: error.message }));
    request.on('close', () => resolve({ refused: 'closed without a response' }));
    request.on('response', (incoming) => {
      let body = '';
      incoming.on('data', (bytes: Buffer) => {
        body += bytes.toString('latin1');
      });
      incoming.on('error', (error) => resolve({ refused: error.message }));
      incoming.on('end', () => {
        const headers = incoming.rawHeaders.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
        resolve(incoming.complete ? { status: incoming.statusCode ?? 0, headers, body } : { refused: 'incomplete' });
      });
    });
    request.end();
  });
}

function readWithOurs(path: string, response: RawResponse): Promise<Outcome> {
  sending.set(path, response);
  return new Promise((resolve) => {
    const read: Read = { status: 0, headers: [], body: '' };
    // A pool per case: no case gets a connection that another one left.
    pools.get(keyOf(port, { tenant: path })).send(
      { path: `/${path}`, method: response.method, headers: ['host', 'fuzz'] },
      {
        onHead(status, headers) {
          read.status = status;
          read.headers = [...headers];
        },
        onData(bytes) {
          read.body += bytes.toString('latin1');
        },
        onEnd: () => resolve(read),
        onFault: (fault) => resolve({ refused: fault.cause instanceof Error ? fault.cause.message : fault.message }),
      },
    );
  });
}

/** Bytes of the response and of its head, as our parser finds their ends. */
function extent({ method, text }: RawResponse): { head: number; whole: number } {
  let head = 0;
  let at = 0;
  const parser = new ResponseParser({
    onHead: () => {
      head ||= at + 1;
    },
    onData: () => undefined,
  });
  parser.begin(method, false);
  for (; at < text.length && !parser.done; at++) parser.push(Buffer.from(text[at] ?? '', 'latin1'));
  return { head, whole: at };
}

/** Without a tab behind `chunked`: it's optional white space (RFC 9110 §5.6.3), but Node then reads the body until the connection closes. */
function withoutTab(response: RawResponse): RawResponse {
  return { ...response, text: response.text.replace(/^(transfer-encoding:[ \t]*chunked) *\t[ \t]*\r$/gim, '$1\r') };
}

/** Without what follows the response: ours closes the connection on it, where Node fails the call. */
function withoutSurplus(response: RawResponse): RawResponse {
  return { ...response, text: response.text.slice(0, extent(response).whole) };
}

/** The response with its body chunked anew: ours skips chunk extensions, white space behind a size, and trailers, where Node validates them. */
function withoutChunkDetails(response: RawResponse, { body, headers }: Read): RawResponse | undefined {
  if (!headers.includes('transfer-encoding')) return undefined;
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  return { ...response, text: `${response.text.slice(0, extent(response).head)}${chunk}0\r\n\r\n` };
}

test(`reads upstream responses as Node does, or refuses them (seed ${SEED})`, { timeout: 600_000 }, async () => {
  const cases = fc.sample(rawResponses, { numRuns: CASES, seed: SEED });
  const counts = { same: 0, bothRefuse: 0, stricter: 0, chunkDetails: 0 };
  const wrong: string[] = [];
  const judge = async (response: RawResponse, id: number) => {
    const ours = await readWithOurs(`${id}-ours`, response);
    const nodes = await readWithNode(`${id}-node`, withoutTab(isRefused(ours) ? response : withoutSurplus(response)));
    const fail = () => wrong.push(`${JSON.stringify(response)}\n  ours: ${JSON.stringify(ours)}\n  Node: ${JSON.stringify(nodes)}`);
    if (isRefused(ours)) {
      if (isRefused(nodes)) counts.bothRefuse++;
      else if (ours.refused in STRICTER) counts.stricter++;
      else fail();
    } else if (!isRefused(nodes)) {
      if (JSON.stringify(ours) === JSON.stringify(nodes)) counts.same++;
      else fail();
    } else {
      const again = withoutChunkDetails(response, ours);
      const read = again && (await readWithNode(`${id}-again`, withoutTab(again)));
      if (read && JSON.stringify(ours) === JSON.stringify(read)) counts.chunkDetails++;
      else fail();
    }
  };
  for (let from = 0; from < cases.length; from += AT_ONCE) {
    await Promise.all(cases.slice(from, from + AT_ONCE).map((response, i) => judge(response, from + i)));
    sending.clear();
  }
  const told = `${wrong.length} of ${CASES}, seed ${SEED}`;
  assert.deepEqual(
    wrong
      .sort((a, b) => a.length - b.length)
      .slice(0, 5)
      .map((one) => one.slice(0, 1_500)),
    [],
    told,
  );
  // A generator that only makes nonsense would prove nothing.
  for (const [kind, share] of Object.entries({ same: 0.3, bothRefuse: 0.2, stricter: 0.02, chunkDetails: 0.01 }))
    assert.ok(counts[kind as keyof typeof counts] > CASES * share, JSON.stringify(counts));
});
