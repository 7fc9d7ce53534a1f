import assert from 'node:assert/strict';
import test from 'node:test';
import { MalformedResponse, ResponseParser } from './response-parser.ts';

type Told = { heads: [number, string, string[]][]; body: string; used: number; done: boolean; keepAlive: boolean };

/** Gives the pieces to a new parser, the way a socket would. */
function read(pieces: readonly string[], method = 'GET'): Told {
  const told: Told = { heads: [], body: '', used: 0, done: false, keepAlive: false };
  const parser = new ResponseParser({
    onHead: (status, headers, reason) => told.heads.push([status, reason, [...headers]]),
    onData: (bytes) => {
      told.body += bytes.toString('latin1');
    },
  });
  parser.begin(method, false);
  for (const piece of pieces) if (!parser.done) told.used += parser.push(Buffer.from(piece, 'latin1'));
  return { ...told, done: parser.done, keepAlive: parser.keepAlive };
}

const chunked =
  'HTTP/1.1 200 Fine\r\nTransfer-Encoding: Chunked\r\nX-A:  1 \r\nx-a:\t2\r\n\r\n5;q="a"\r\nhello\r\nA\r\n, world!!!\r\n0\r\nT: 1\r\n\r\n';
const length = 'HTTP/1.1 200 OK\r\nContent-Length: 15\r\nSet-Cookie: a\xe9=1\r\nSet-Cookie: b=2\r\n\r\nhello, world!!!';
const hints = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${length}`;

test('an answer is the same however its bytes are cut, and ends where it says', () => {
  for (const answer of [chunked, length, hints]) {
    const whole = read([answer]);
    assert.deepEqual([whole.body, whole.done, whole.keepAlive, whole.used], ['hello, world!!!', true, true, answer.length]);
    for (let cut = 1; cut < answer.length; cut++) assert.deepEqual(read([answer.slice(0, cut), answer.slice(cut)]), whole, `cut at ${cut}`);
    assert.deepEqual(read([...answer]), whole, 'byte by byte');
    const more = read([`${answer}HTTP/1.1 200 OK`]);
    assert.equal(more.used, answer.length, 'what comes after it is not taken');
  }
  assert.deepEqual(read([chunked]).heads, [[200, 'Fine', ['transfer-encoding', 'Chunked', 'x-a', '1', 'x-a', '2']]]);
  assert.deepEqual(read([length]).heads[0]?.[2], ['content-length', '15', 'set-cookie', 'a\xe9=1', 'set-cookie', 'b=2']);
});

test('answers without a body end with their head, whatever length they tell', () => {
  // An upstream that sends a body although there can be none would have it taken for the answer to the next call.
  for (const [status, method, header, keeps] of [
    [200, 'HEAD', 'Content-Length: 5', false],
    [200, 'HEAD', 'X: y', false],
    [204, 'GET', 'Content-Length: 5', false],
    [204, 'GET', 'Transfer-Encoding: chunked', false],
    [204, 'GET', 'Content-Length: 0', true],
    [204, 'DELETE', 'X: y', true],
    [304, 'GET', 'Content-Length: 5', true],
    [304, 'GET', 'Transfer-Encoding: chunked', false],
  ] as const) {
    const told = read([`HTTP/1.1 ${status} X\r\n${header}\r\n\r\n`], method);
    assert.deepEqual([told.done, told.body, told.keepAlive], [true, '', keeps], `${status} ${method} ${header}`);
  }
});

test('a connection is used again only when both sides know where the answer ended', () => {
  const keeps = (head: string) => read([`${head}\r\n\r\n`]).keepAlive;
  assert.equal(keeps('HTTP/1.1 200 OK\r\nContent-Length: 0'), true);
  assert.equal(keeps('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive'), true);
  assert.equal(keeps('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close'), false);
  assert.equal(keeps('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x\r\nConnection: close'), false);
  assert.equal(keeps('HTTP/1.0 200 OK\r\nContent-Length: 0'), false);
  assert.equal(keeps('HTTP/1.1 200 OK'), false);
});

test('without a length the answer ends with the connection, and nothing else does', () => {
  const parser = new ResponseParser({ onHead() {}, onData() {} });
  parser.begin('GET', false);
  parser.push(Buffer.from('HTTP/1.1 200 OK\r\n\r\nabc'));
  assert.equal(parser.done, false);
  assert.equal(parser.close(), true);
  parser.begin('GET', false);
  parser.push(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc'));
  assert.equal(parser.close(), false);
});

test('what two readers could understand differently is refused', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  const table: Record<string, string> = {
    'no HTTP': 'HELO\r\n\r\n',
    'another version': 'HTTP/2.0 200 OK\r\n\r\n',
    'a status of two digits': 'HTTP/1.1 99 X\r\n\r\n',
    'a status that is none': 'HTTP/1.1 2x0 X\r\n\r\n',
    'bare line feeds': 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n',
    'a head that ends with bare line feeds': 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
    'a bare line feed in a value': `${ok}A: b\nContent-Length: 0\r\n\r\n`,
    'a bare carriage return in a value': `${ok}A: b\rContent-Length: 9\r\n\r\n`,
    'a folded line': `${ok}A: b\r\n c\r\n\r\n`,
    'space before the colon': `${ok}Content-Length : 5\r\n\r\n`,
    'no name': `${ok}: 5\r\n\r\n`,
    'no colon': `${ok}Content-Length\r\n\r\n`,
    'a NUL': `${ok}A: \0\r\n\r\n`,
    'two lengths': `${ok}Content-Length: 5\r\nContent-Length: 5\r\n\r\n`,
    'a list of lengths': `${ok}Content-Length: 5, 5\r\n\r\n`,
    'a signed length': `${ok}Content-Length: +5\r\n\r\n`,
    'a hexadecimal length': `${ok}Content-Length: 0x5\r\n\r\n`,
    'an empty length': `${ok}Content-Length: \r\n\r\n`,
    'a length beyond all numbers': `${ok}Content-Length: 99999999999999999999\r\n\r\n`,
    'a length beside a coding': `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'another coding': `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    'two codings': `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'a coding under HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    'an upgrade nobody asked for': 'HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n',
    'a signed chunk': `${ok}Transfer-Encoding: chunked\r\n\r\n-5\r\n`,
    'a chunk without a size': `${ok}Transfer-Encoding: chunked\r\n\r\n\r\n`,
    'a chunk size after a space': `${ok}Transfer-Encoding: chunked\r\n\r\n 5\r\n`,
    'a chunk size that ends in a bare line feed': `${ok}Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n`,
    'a chunk beyond all numbers': `${ok}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
    'a chunk longer than it said': `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello!!\r\n`,
    'an endless chunk extension': `${ok}Transfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(5000)}`,
    'endless trailers': `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n${`A: ${'x'.repeat(1000)}\r\n`.repeat(70)}`,
    'an endless head': `${ok}${'A: b\r\n'.repeat(12_000)}`,
    'endless hints': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(4_000),
  };
  for (const [what, answer] of Object.entries(table)) {
    assert.throws(() => read([answer]), MalformedResponse, what);
    assert.throws(() => read([...answer]), MalformedResponse, `${what}, byte by byte`);
  }
});

test('who stops in the middle hears nothing more', () => {
  const seen: string[] = [];
  const parser: ResponseParser = new ResponseParser({
    onHead: () => undefined,
    onData: (bytes) => {
      seen.push(bytes.toString());
      parser.stop();
    },
  });
  parser.begin('GET', false);
  parser.push(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n'));
  assert.deepEqual([seen, parser.keepAlive], [['a'], false]);
});
