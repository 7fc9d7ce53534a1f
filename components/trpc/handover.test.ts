import assert from 'node:assert/strict';
import test from 'node:test';
import { dropHanded, handingOver, handOver, nextFor, stored } from './handover.ts';

const tab = new EventTarget() as unknown as Window & typeof globalThis;
globalThis.window = tab;
/** Whether the browser would ask before this tab is left. */
const asks = () => !tab.dispatchEvent(new Event('beforeunload', { cancelable: true }));
const value = (name: string, person = 'ada') => ({ name, value: `needle-${name}`, person, from: 'Made in Test of acme.' });

test('values that are shown once wait for their person, one after another, and the tab is not left without a question', () => {
  assert.equal(asks(), false);
  handOver([]);
  assert.equal(asks(), false);
  const [first, second] = [value('private_key_pem'), value('secret')];
  handOver([first, second]);
  assert.deepEqual([nextFor('ada'), nextFor('somebody else'), asks()], [first, undefined, true]);
  stored(first);
  assert.deepEqual([nextFor('ada'), asks()], [second, true]);
  stored(second);
  assert.deepEqual([nextFor('ada'), asks()], [undefined, false]);
});

test('a tab that is left keeps none of them', () => {
  handOver([value('api_key'), value('api_key', 'grace')]);
  dropHanded();
  assert.deepEqual([nextFor('ada'), nextFor('grace'), asks()], [undefined, undefined, false]);
});

test('the tab asks while such a call is on its way, and no longer once it is answered or has failed', async () => {
  const late = Promise.withResolvers<string>();
  const answered = handingOver(() => late.promise);
  const failed = handingOver(() => Promise.reject(new Error('no network')));
  assert.equal(asks(), true);
  await assert.rejects(failed, /no network/);
  assert.equal(asks(), true);
  late.resolve('done');
  assert.equal(await answered, 'done');
  assert.equal(asks(), false);
});
