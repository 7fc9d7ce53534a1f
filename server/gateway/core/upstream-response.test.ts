import assert from 'node:assert/strict';
import test from 'node:test';
import { nominatedBy } from './upstream-headers.ts';
import { namesOf } from './upstream-response.ts';

const cost = (act: () => void): number => {
  const began = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
};

test('as many headers as an upstream may send cost what they are long, and the log keeps the first names', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => i.toString(36).padStart(3, 'x'));
  const headers = names.flatMap((name) => [name, '']);
  assert.deepEqual(namesOf(headers), names.slice(0, 200));
  assert.deepEqual(namesOf(['a', '1', 'b', '2', 'a', '3']), ['a', 'b']);
  const nominated = nominatedBy(names.join(', ')) ?? new Set();
  assert.ok(nominated.has('xx0') && !nominated.has('other'));
  const took = cost(() => {
    for (let i = 0; i < 20; i++) {
      namesOf(headers);
      for (const name of names) nominated.has(`${name}!`);
    }
  });
  assert.ok(took < 500, `${took} ms of the processor for twenty answers`);
});
