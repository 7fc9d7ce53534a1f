import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import type { Transfer } from '#server/platform/in-flight.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { hold } from './drive-state.ts';
import { openRoom } from './room.ts';
import { definitionOf, ended, started, statesOf, stored, working } from './running.fixture.ts';

const MIB = 1024 * 1024;

test('an execution steps back when it has more than its share of too much, and only then', () => {
  const room = openRoom(10 * MIB);
  const holds = (name: string, mib: number) => room.holds(name, [{ bytes: (mib * MIB) / 2, values: 0 }]);
  holds('a', 11);
  assert.deepEqual([room.stepsBack('a'), room.isFull()], [false, true], 'one alone goes on');
  holds('b', 1);
  assert.deepEqual([room.stepsBack('b'), room.stepsBack('a'), room.isFull()], [false, true, false]);
  holds('c', 5);
  holds('b', 5);
  assert.deepEqual([room.stepsBack('b'), room.stepsBack('c')], [false, false], 'it is not too much any more');
  room.leaves('c');
  holds('d', 9);
  room.holds('e', [{ bytes: 0, values: 100_000 }]);
  assert.equal(room.isFull(), true, 'values take memory, however short they are');
});

test('bodies in flight count, and above the limit only the four answers are read on that came first', () => {
  const room = openRoom(25 * MIB);
  const resumed: string[] = [];
  const transfer = (name: string, sent = 0) => room.transfer(name, sent, () => resumed.push(name));
  const silent = transfer('silent', MIB);
  const [a, b, c, d, e, f] = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => transfer(name)) as Six;
  assert.deepEqual(
    [a, b, c, d].map((one) => one.received(MIB)),
    [true, true, true, true],
  );
  assert.deepEqual([e.received(MIB), room.isFull()], [true, false]);
  assert.deepEqual([f.received(MIB), room.isFull()], [false, true], 'nothing more is claimed meanwhile');
  assert.deepEqual([e.received(1.1 * MIB), d.received(1.1 * MIB)], [false, true]);
  a.done();
  a.done();
  assert.deepEqual([resumed, room.isFull()], [['e', 'f'], false]);
  assert.equal(e.received(2 * MIB), true, 'it is one of four now');
  assert.equal(f.received(1.1 * MIB), false);
  room.leaves('b');
  assert.deepEqual(resumed, ['e', 'f', 'f'], 'a run that ends has nothing in flight');
  for (const one of [silent, c, d, e, f]) one.done();
  room.holds('g', [{ bytes: 12 * MIB, values: 0 }]);
  assert.equal(room.isFull(), false, 'nothing is left of them');
  room.holds('g', [{ bytes: 13 * MIB, values: 0 }]);
  assert.equal(room.isFull(), true, 'and nothing was given back twice');
});
type Six = [Transfer, Transfer, Transfer, Transfer, Transfer, Transfer];

test('what started an execution and what its nodes were given count too', () => {
  const room = openRoom(MIB);
  const holding = (input: unknown, inputs: number) =>
    hold({ held: { execution: { id: 'a' } }, tools: { room }, value: { input }, inputs, state: new Map(), steppedBack: false } as never);
  holding('a'.repeat(MIB / 4), 0);
  assert.equal(room.isFull(), false);
  holding('a'.repeat(MIB / 4), MIB / 2);
  assert.equal(room.isFull(), true);
});

await ownDatabase();
working({ mostHeld: 3 * MIB });

test('a run that holds too much beside others waits in the database until there is room, and then completes', async () => {
  const w = await workspace();
  const held: (() => void)[] = [];
  let open = false;
  const port = await listen(createServer((_, res) => (open ? res.end('{}') : held.push(() => res.end('{}')))));
  const definition = definitionOf(
    {
      big: ['transform', { fields: { x: '{{trigger.data|replace("a","bbbbbbbbbb")}}' } }],
      call: ['http_request', { method: 'GET', url: `http://127.0.0.1:${port}/` }],
      last: ['transform', { template: '{{big.x|length}}' }],
    },
    ['trigger>big', 'big>call', 'call>last'],
  );
  const workflow = await stored(w.test, definition);
  const ids = await Promise.all(Array.from({ length: 4 }, () => started(w.test, workflow, 'a'.repeat(50_000))));
  const waiting = () => db().workflow_executions.count({ where: { id: { in: ids }, status: 'waiting' } });
  await until(async () => (await waiting()) > 0, 'the third steps back: two have room');
  open = true;
  for (const answer of held) answer();
  for (const id of ids) {
    assert.equal((await ended(id)).status, 'completed');
    assert.equal(await statesOf(w.test, id), 'big:succeeded call:succeeded last:succeeded');
  }
});

test('many answers of megabytes at once are read one after the other, and every run completes', async () => {
  const w = await workspace();
  const port = await listen(createServer((_, res) => void res.end('x'.repeat(500 * 1024))));
  const node = (path: string): [string, Record<string, unknown>] => [
    'http_request',
    { method: 'POST', url: `http://127.0.0.1:${port}/${path}`, body: '{{trigger.data}}' },
  ];
  const workflow = await stored(w.test, definitionOf({ a: node('a'), b: node('b') }, ['trigger>a', 'trigger>b']));
  const ids = await Promise.all(Array.from({ length: 4 }, () => started(w.test, workflow, 'a'.repeat(5_000))));
  for (const id of ids) assert.equal((await ended(id)).status, 'completed');
});
