import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { ReadMemory } from './read-memory.ts';
import { keyOf, listen, poolsOf } from './upstream.fixture.ts';

test('a connection reads into the memory of all until a long answer came, and again after eight short ones', () => {
  const [memory, other] = [new ReadMemory(), new ReadMemory()];
  const ofAll = other.next();
  assert.equal(memory.next(), ofAll);
  assert.equal(memory.take(), undefined);
  memory.sawLong();
  const own = memory.next();
  assert.notEqual(own, ofAll);
  assert.equal(memory.next(), own, 'the same until somebody takes it');
  for (let i = 0; i < 7; i++) memory.answerEnded();
  assert.equal(memory.next(), own);
  memory.answerEnded();
  assert.equal(memory.next(), ofAll);
});

test('memory that was taken is never read into again, nor taken twice', () => {
  const memory = new ReadMemory();
  memory.sawLong();
  const first = memory.next();
  assert.equal(memory.take(), first);
  assert.equal(memory.take(), undefined);
  assert.notEqual(memory.next(), first);
  memory.release();
});

test('of all connections sixty-four have memory of their own, and who gives it up makes room', () => {
  const all = Array.from({ length: 65 }, () => new ReadMemory());
  const ofAll = new ReadMemory().next();
  for (const memory of all) memory.sawLong();
  const given = all.map((memory) => memory.next());
  assert.equal(new Set(given.filter((buffer) => buffer !== ofAll)).size, 64);
  assert.equal(given.at(-1), ofAll);
  all[0]?.release();
  assert.notEqual(all.at(-1)?.next(), ofAll);
  for (const memory of all) memory.release();
});

test('bytes that were kept stay as they are while the same connection brings other answers; outside of onData nothing can be kept', async () => {
  let served = 0;
  const port = await listen(createServer((_, res) => res.end(Buffer.alloc(100_000, `answer ${served++} `))));
  const pools = poolsOf();
  const kept: { bytes: Buffer; memory: Buffer | undefined; text: string }[] = [];
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const sent = pools.get(keyOf(port)).send(
        { method: 'GET', path: '/', headers: ['host', 'x'] },
        {
          onHead: () => assert.ok(sent),
          onData(bytes) {
            kept.push({ bytes, memory: sent.keep(), text: bytes.toString('latin1') });
            assert.equal(sent.keep(), undefined, 'twice');
          },
          onEnd() {
            setImmediate(() => {
              assert.equal(sent.keep(), undefined, 'afterwards');
              resolve();
            });
          },
          onFault: reject,
        },
      );
    });
  for (let i = 0; i < 12; i++) await ask();
  const own = kept.filter(({ memory }) => memory !== undefined);
  assert.ok(own.length >= 8, `${own.length} of ${kept.length}`);
  assert.equal(new Set(own.map(({ memory }) => memory)).size, own.length, 'each in memory of its own');
  for (const { bytes, text } of own) assert.equal(bytes.toString('latin1'), text);
});
