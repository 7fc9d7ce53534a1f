import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { type ApiDocument, operationsOf } from '#components/explorer/document.ts';
import type { Sent } from '#components/explorer/send.ts';
import { commandsOf } from './commands.ts';
import { carryOut, type Steps, Stopped } from './execute.ts';
import { readLine } from './parse-line.ts';

const commands = commandsOf(operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument));
const answer = { status: 200, headers: [], body: '{}', duration_ms: 1, request_id: 'r' };
const never = () => new Promise<never>(() => undefined);

/** Carries a line out with what the person says on the way; tells the steps that were taken and the call that was sent. */
function carried(line: string, space: 'live' | 'test', says: Partial<Steps> = {}) {
  const call = readLine(line, commands);
  assert.ok(call.kind === 'call', line);
  const taken: string[] = [];
  const out: { sent?: Sent } = {};
  const controller = new AbortController();
  const noted =
    <A extends unknown[], T>(name: string, step: (...args: A) => Promise<T>) =>
    (...args: A) => {
      taken.push(name);
      return step(...args);
    };
  const steps: Steps = {
    withIds: noted('names', says.withIds ?? (async (_, typed) => typed)),
    secret: noted('secret', says.secret ?? (async () => 'typed unseen')),
    confirm: noted('confirm', says.confirm ?? (async () => true)),
    send: noted('send', async (sent: Sent) => {
      out.sent = sent;
      return says.send ? says.send(sent) : answer;
    }),
  };
  return { done: carryOut(call, space, steps, controller.signal), taken, out, stop: () => controller.abort() };
}

test('a change in Live is sent after a yes and never after a no; a read, and a change in Test, ask nothing', async () => {
  const yes = carried('clients delete c', 'live');
  assert.equal(await yes.done, answer);
  assert.deepEqual([yes.taken, yes.out.sent?.confirmed, yes.out.sent?.path], [['names', 'confirm', 'send'], true, '/clients/c']);
  const no = carried('clients delete c', 'live', { confirm: async () => false });
  assert.equal(await no.done, undefined);
  assert.deepEqual(no.taken, ['names', 'confirm']);
  for (const [line, space] of [
    ['clients list', 'live'],
    ['clients delete c', 'test'],
  ] as const) {
    const free = carried(line, space);
    await free.done;
    assert.deepEqual([free.taken, free.out.sent?.confirmed], [['names', 'send'], false]);
  }
});

test('a secret goes into the body as it was typed unseen, never as it stood on the line; none is sent where none was typed', async () => {
  const line = 'secrets create --name A --value on-the-line';
  const typed = carried(line, 'test');
  await typed.done;
  assert.deepEqual(typed.out.sent?.body, { name: 'A', value: 'typed unseen' });
  const empty = carried(line, 'test', { secret: async () => '' });
  await empty.done;
  assert.deepEqual(empty.out.sent?.body, { name: 'A' });
  const rather = carried(line, 'live', { secret: async () => undefined });
  assert.equal(await rather.done, undefined);
  assert.deepEqual(rather.taken, ['names', 'secret']);
});

test('a call that is stopped on its way asks nothing more and is never sent', async () => {
  const stops: [Partial<Steps>, string[]][] = [
    [{ withIds: never }, ['names']],
    [{ secret: never }, ['names', 'secret']],
    [{ confirm: never }, ['names', 'secret', 'confirm']],
  ];
  for (const [says, taken] of stops) {
    const call = carried('secrets create --name A', 'live', says);
    setImmediate(call.stop);
    await assert.rejects(call.done, (error) => error instanceof Stopped && !error.sent);
    await new Promise(setImmediate);
    assert.deepEqual(call.taken, taken);
  }
  // The lists answer after the stop: too late for anything.
  const late: (() => void)[] = [];
  const call = carried('clients delete c', 'test', {
    withIds: (_, typed) => new Promise((resolve) => late.push(() => resolve(typed))),
  });
  setImmediate(call.stop);
  await assert.rejects(call.done, Stopped);
  for (const come of late) come();
  await new Promise(setImmediate);
  assert.deepEqual(call.taken, ['names']);
});

test('stopped after it was sent, that is told: the service may have carried it out', async () => {
  const call = carried('clients delete c', 'test', { send: never });
  setImmediate(call.stop);
  await assert.rejects(call.done, (error) => error instanceof Stopped && error.sent);
});
