import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endFile } from './file-end.ts';

// What one test file leaves behind must not decide what the next one sees. This file opens nothing itself, so it can be ended in the middle.

test('globals of a page and settings that a file added are gone, and what it replaced is back', async () => {
  const [{ fetch }, { PATH }] = [globalThis, process.env];
  Object.assign(globalThis, { window: new EventTarget(), fetch: () => undefined });
  Reflect.deleteProperty(globalThis, 'structuredClone');
  Object.assign(process.env, { PATH: 'elsewhere', LEFT_BEHIND: '1' });
  await endFile();
  assert.deepEqual(['window' in globalThis, globalThis.fetch === fetch, typeof structuredClone], [false, true, 'function']);
  assert.deepEqual([process.env.PATH, 'LEFT_BEHIND' in process.env], [PATH, false]);
});
