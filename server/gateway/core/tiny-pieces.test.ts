import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeAgent, makeToken, PROMPT } from '../ai/ai.fixture.ts';
import { makeRoute, served, startGateway } from '../gateway.fixture.ts';
import { listen } from './raw-client.fixture.ts';

// A few bytes can be a whole chunk, event or frame: what comes in one read of a socket is then work for many.

await testDatabase();
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key();
const host = `${w.tenant.slug}.localhost:${running.port}`;
const WIRE = 4 * 1024 * 1024;
/** Bytes on the wire that a piece of one byte takes as a chunk. */
const CHUNK = '1\r\nx\r\n';
const filled = (piece: string, bytes = WIRE): Buffer => Buffer.alloc(bytes - (bytes % piece.length), piece, 'latin1');
const EVENTS = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n';

/** A server that answers with these bytes, whatever it is asked, once it has heard a head and so many bytes. */
async function upstream(answer: readonly (string | Buffer)[], most = 0): Promise<{ port: number; heard: () => number }> {
  let heard = 0;
  const port = await listen(
    createServer((socket) => {
      let [text, answered] = ['', false];
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => {
        heard += bytes.length;
        if (text.length < 4_096) text += bytes.toString('latin1', 0, 4_096);
        if (answered || heard < most || !text.includes('\r\n\r\n')) return;
        answered = true;
        for (const part of answer) socket.write(part);
        socket.end();
      });
    }),
  );
  return { port, heard: () => heard };
}

/** Sends these bytes and counts what comes until the gateway hangs up or `enough` says so. */
function sent(
  parts: readonly (string | Buffer)[],
  enough: (start: string, last: string) => boolean,
): Promise<{ start: string; last: string; bytes: number }> {
  return new Promise((resolve) => {
    let [start, last, bytes] = ['', '', 0];
    const socket: Socket = connect(running.port, '127.0.0.1');
    const done = () => {
      socket.destroy();
      resolve({ start, last, bytes });
    };
    socket.on('error', () => undefined);
    socket.on('close', done);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      last = (last + chunk.toString('latin1', Math.max(0, chunk.length - 512))).slice(-512);
      if (start.length < 512) start += chunk.toString('latin1', 0, 512);
      if (enough(start, last)) done();
    });
    for (const part of parts) socket.write(part);
  });
}

const ended = (_: string, last: string): boolean => last.endsWith('\r\n0\r\n\r\n');

const tooMany = `data: {"x":\n${'data: 1\n'.repeat(500_000)}\n`;
for (const [name, answer, says] of [
  ['line ends', filled('\n'), /before its first event/],
  ['carriage returns', filled('\r'), /before its first event/],
  ['events of ten bytes', filled('data: {}\n\n'), /data: \{\}/],
  ['comments', filled(':\n\n'), /:\n\n/],
  ['an event of many lines', Buffer.from(tooMany), /upstream_invalid_response/],
] as const)
  test(`a stream of ${name} leaves others their turn`, async () => {
    const { port } = await upstream([EVENTS, answer]);
    const { agent, gateway } = await makeAgent(w, { url: `http://127.0.0.1:${port}` });
    const { text: token } = await makeToken(w, { agent, gateway });
    await served(running, w);
    const body = JSON.stringify({ ...PROMPT, stream: true });
    const head = `POST /v1/ai/${agent.slug}/v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    const { start, last } = await neverBlocks(() => sent([head, body], () => false));
    assert.match(start + last, says);
  });

test('an answer in chunks of a byte comes whole and leaves others their turn', async () => {
  const { port } = await upstream([CHUNKED, filled(CHUNK, WIRE / 2), '0\r\n\r\n']);
  await makeRoute(w, 'chunks', `http://127.0.0.1:${port}`);
  await served(running, w);
  const { start, bytes } = await neverBlocks(() => sent([`GET /chunks HTTP/1.1\r\nhost: ${host}\r\nx-svc-key: ${key}\r\n\r\n`], ended));
  assert.match(start, /^HTTP\/1.1 200 /);
  assert.ok(bytes > WIRE / 2 / CHUNK.length, String(bytes));
});

test('a body in chunks of a byte arrives whole and leaves others their turn', async () => {
  const { port, heard } = await upstream(['HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'], WIRE / 2 / CHUNK.length);
  await makeRoute(w, 'bodies', `http://127.0.0.1:${port}`);
  await served(running, w);
  const head = `POST /bodies HTTP/1.1\r\nhost: ${host}\r\nx-svc-key: ${key}\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
  const { start } = await neverBlocks(() => sent([head, filled(CHUNK, WIRE / 2), '0\r\n\r\n'], () => false));
  assert.match(start, /^HTTP\/1.1 200 /);
  assert.ok(heard() > WIRE / 2 / CHUNK.length, String(heard()));
});

test('empty frames of a WebSocket pass in both directions and leave others their turn', async () => {
  const frames = filled('\x89\x00');
  const { port, heard } = await upstream([
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    frames,
  ]);
  await makeRoute(w, 'frames', `http://127.0.0.1:${port}`);
  await served(running, w);
  const head = `GET /frames HTTP/1.1\r\nhost: ${host}\r\nx-svc-key: ${key}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const masked = filled('\x89\x80\x00\x00\x00\x00');
  const { start, bytes } = await neverBlocks(() => sent([head, masked], () => false));
  assert.match(start, /^HTTP\/1.1 101 /);
  assert.ok(bytes > WIRE, String(bytes));
  assert.ok(heard() > 0);
});
