import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processState, renewProcessState } from './process-state.ts';

test('state is created by the first caller and shared by all of one name', () => {
  const first = processState('test-shared', () => ({ n: 1 }));
  assert.equal(
    processState('test-shared', () => ({ n: 2 })),
    first,
  );
  assert.equal(first.n, 1);
  assert.notEqual(
    processState('test-other', () => ({ n: 2 })),
    first,
  );
});

test('a timer of before does nothing to what comes after, and one of what lasts does', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = (what: string) => setTimeout(() => acted.push(what), 0);
  const acted: string[] = [];
  processState('test-timer', (): { timer?: NodeJS.Timeout } => ({})).timer = begun('own');
  processState('test-timers', () => new Map<string, { timer: NodeJS.Timeout }>()).set('a', { timer: begun('of an entry') });
  processState('test-held', () => ({ held: new Map<string, { timer: NodeJS.Timeout }>() })).held.set('a', { timer: begun('of a map') });
  processState('test-lasting-timer', (): { timer?: NodeJS.Timeout } => ({}), { lasting: true }).timer = begun('lasting');
  renewProcessState();
  setTimeout(resolve, 0); // timers of one length come in their order
  await promise;
  assert.deepEqual(acted, ['lasting']);
});

test('whoever holds state sees it renewed, but for what lasts', () => {
  const object = processState('test-object', (): { n: number; more?: string } => ({ n: 1 }));
  const map = processState('test-map', () => new Map([['a', 1]]));
  const set = processState('test-set', () => new Set<string>());
  const lasting = processState('test-lasting', () => ({ n: 1 }), { lasting: true });
  Object.assign(object, { n: 2, more: 'x' });
  map.clear();
  map.set('b', 2);
  set.add('c');
  lasting.n = 2;
  renewProcessState();
  assert.deepEqual([object, [...map], [...set], lasting], [{ n: 1 }, [['a', 1]], [], { n: 2 }]);
});
