import assert from 'node:assert/strict';
import test from 'node:test';
import {
  admittedRevoked,
  brokenDeliveries,
  brokenLimits,
  brokenVersions,
  brokenWrites,
  type Call,
  type Life,
  missingFromLog,
  unexplainedFailures,
} from './history.ts';

// A checker that finds nothing proves nothing: each fault it is there for is planted here.

let serial = 0;
const call = (from: number, to: number, more: Partial<Call> = {}): Call => {
  const id = `c${serial++}`;
  return { id, gateway: 0, route: 'r', status: 200, requestId: id, from, to, ...more };
};
const life = (from: number, to: number, killed = true): Life => ({ from, to, killed });
const lives = new Map([[0, [life(0, 100), life(200, 300, false)]]]);

test('a failure counts unless its gateway was away meanwhile', () => {
  const outages = new Map([[0, [{ from: 100, to: 200 }]]]);
  const failed = { status: 'ECONNRESET' };
  assert.deepEqual(
    unexplainedFailures([call(90, 110, failed), call(150, 160, failed), call(0, 1), call(0, 1, { status: 429 })], outages),
    [],
  );
  assert.equal(unexplainedFailures([call(10, 20, failed)], outages).length, 1);
  assert.equal(unexplainedFailures([call(150, 160, { ...failed, gateway: 1 })], outages).length, 1);
  assert.equal(unexplainedFailures([call(10, 20, { status: 500 })], outages).length, 1);
});

test('a torn, an unknown and an older version are found, and an older one after a restart is none', () => {
  const changes = [1, 2, 3].map((version) => ({ route: 'r', version, from: version * 10, to: version * 10 + 5 }));
  const used = (from: number, version: number, header = version) => call(from, from + 5, { seen: [version, header] });
  assert.deepEqual(brokenVersions([used(12, 1), used(22, 2), used(28, 2), used(210, 1), used(220, 3)], changes, lives), []);
  assert.match(brokenVersions([used(40, 2, 3)], changes, lives)[0] ?? '', /torn/);
  assert.match(brokenVersions([used(40, 4)], changes, lives)[0] ?? '', /nobody had asked for/);
  assert.match(brokenVersions([used(10, 3)], changes, lives)[0] ?? '', /nobody had asked for/);
  assert.match(brokenVersions([used(40, 3), used(50, 2)], changes, lives)[0] ?? '', /went back/);
});

test('a place given twice, too many places and a limit of nobody are found', () => {
  const admitted = (from: number, remaining: number, most = 2) => call(from, from + 1, { limit: { most, remaining } });
  const check = (calls: readonly Call[]) => brokenLimits(calls, 'r', 2, 1, [life(0, 100), life(200, 300)], lives);
  assert.deepEqual(check([admitted(1, 1), admitted(2, 0), admitted(201, 1), admitted(202, 0), admitted(3, 0, 1), admitted(203, 0, 1)]), []);
  assert.match(check([admitted(1, 1), admitted(2, 1)])[0] ?? '', /twice/);
  assert.match(check([admitted(1, 2), admitted(2, 1), admitted(3, 0)])[0] ?? '', /there are 2/);
  assert.match(check([admitted(1, 0, 1), admitted(2, 1, 1)])[0] ?? '', /by itself gave 2/);
  assert.match(check([admitted(1, 0, 7)])[0] ?? '', /a limit of 7/);
});

test('a revoked key that is let in late, or once more, is found', () => {
  const tried = (from: number, status: number) => call(from, from + 1, { status });
  assert.deepEqual(admittedRevoked([tried(1, 200), tried(12, 200), tried(20, 401), tried(30, 401)], 10, 50, lives), []);
  assert.match(admittedRevoked([tried(70, 200)], 10, 50, lives)[0] ?? '', /60 ms after/);
  assert.match(admittedRevoked([tried(20, 401), tried(30, 200)], 10, 50, lives)[0] ?? '', /had refused/);
});

test('a lost, a doubled and an unaudited write, and an entry without one, are found', () => {
  const acknowledged = new Map([['a', '1']]);
  const begun = new Set(['a', 'b']);
  const [one, two] = [
    { id: '1', name: 'a' },
    { id: '2', name: 'b' },
  ] as const;
  assert.deepEqual(brokenWrites(acknowledged, begun, [one, two], ['1', '2']), []);
  assert.match(brokenWrites(acknowledged, begun, [two], ['2'])[0] ?? '', /isn't there/);
  assert.match(brokenWrites(acknowledged, begun, [one, { id: '3', name: 'a' }], ['1', '3'])[0] ?? '', /2 times/);
  assert.match(brokenWrites(acknowledged, begun, [one], [])[0] ?? '', /0 audit entries/);
  assert.match(brokenWrites(acknowledged, begun, [one], ['1', '1'])[0] ?? '', /2 audit entries/);
  assert.match(brokenWrites(acknowledged, begun, [one], ['1', '9'])[0] ?? '', /tells of 9/);
  assert.match(brokenWrites(acknowledged, new Set(), [one], ['1'])[0] ?? '', /nobody has written/);
});

test('a write that nobody was told of, or told of twice, is found', () => {
  const rows = [{ id: '1', name: 'a' }];
  assert.deepEqual(
    brokenDeliveries(rows, [
      { resource: '1', event: 'e' },
      { resource: '1', event: 'e' },
    ]),
    [],
  );
  assert.equal(brokenDeliveries(rows, []).length, 1);
  assert.equal(
    brokenDeliveries(rows, [
      { resource: '1', event: 'e' },
      { resource: '1', event: 'f' },
    ]).length,
    1,
  );
});

test('a call that is missing from the log counts, unless its gateway died at once', () => {
  assert.deepEqual(missingFromLog([call(1, 2), call(96, 97)], new Set([`c${serial - 2}`]), 5, lives), []);
  assert.equal(missingFromLog([call(1, 2)], new Set(), 5, lives).length, 1);
  assert.equal(missingFromLog([call(290, 299)], new Set(), 5, lives).length, 1, 'a life that ended in order loses nothing');
});
