import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { isUsableSlug, slugFrom } from './schema.ts';

/** What stands first in a path that the application answers itself: the folders of its pages, groups looked into. */
function firstSegments(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => (name.startsWith('(') ? firstSegments(`${folder}/${name}`) : [name]))
    .filter((name) => /^[a-z0-9-]+$/.test(name));
}

test('no workspace can be called what a page of ours is called: its own would never be reached', () => {
  const pages = firstSegments('app');
  assert.ok(pages.includes('signup') && pages.includes('v1'), 'the folders of the pages are found');
  assert.deepEqual(pages.filter(isUsableSlug), []);
});

test('a name that is reserved still gives a slug that can be used', () => {
  for (const name of ['Signup', 'V1', 'sandbox-x', 'Ä', '']) assert.ok(isUsableSlug(slugFrom(name)), name);
});
