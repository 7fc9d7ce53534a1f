import assert from 'node:assert/strict';
import test from 'node:test';
import { Preferences } from '#server/domain/people/schema.ts';
import { pinnablePages, startPages, startPath, withKnownPages } from './page-choices.ts';

test('a page of another release is neither pinned nor opened, and takes no place of another', () => {
  const kept = withKnownPages({ pins: ['logs', 'gone', 'home', 'routes'], home_page: 'gone', theme: 'dark' });
  assert.deepEqual(kept, { pins: ['logs', 'routes'], home_page: 'home', theme: 'dark' });
  assert.equal(withKnownPages({ pins: [], home_page: 'logs' }).home_page, 'logs');
});

test('start pages are pages of a space, Home first, and an unknown one leads Home', () => {
  assert.equal(startPages[0]?.id, 'home');
  for (const { id, scope, path } of startPages) {
    assert.equal(scope, 'space', id);
    assert.equal(startPath(id), path);
  }
  assert.equal(startPath('//evil.test'), '');
});

test('the server accepts every page that can be pinned or opened first', () => {
  for (const { id } of pinnablePages) assert.ok(Preferences.shape.pins.safeParse([id]).success, id);
  for (const { id } of startPages) assert.ok(Preferences.shape.home_page.safeParse(id).success, id);
});
