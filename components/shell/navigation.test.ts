import assert from 'node:assert/strict';
import test from 'node:test';
import { activeItem, hrefInSpace, hrefOf, navigation, personal } from './navigation.ts';

const place = { slug: 'acme', space: 'live' } as const;

test('switching the space keeps the kind of page and never carries an id across', () => {
  assert.equal(hrefInSpace('/acme/live/routes', place, 'test'), '/acme/test/routes');
  assert.equal(hrefInSpace('/acme/live/routes/6b7c', place, 'test'), '/acme/test/routes');
  assert.equal(hrefInSpace('/acme/live', place, 'test'), '/acme/test');
  assert.equal(hrefInSpace('/acme/settings/usage', place, 'test'), '/acme/test');
  assert.equal(hrefInSpace('/me/profile', place, 'test'), '/acme/test');
});

test('a page marks its own item and no other, also deep below it', () => {
  assert.equal(activeItem('/acme/live/secrets/1/history', place)?.id, 'secrets');
  assert.equal(activeItem('/acme/live', place)?.id, 'home');
  assert.equal(activeItem('/acme/live/routes', place)?.id, 'routes');
  assert.equal(activeItem('/acme/settings/usage', place)?.id, 'usage');
  assert.equal(activeItem('/acme/live/routesx', place), undefined);
  assert.equal(activeItem('/other/live/routes', place), undefined);
});

test('no two items share an address or a key', () => {
  const items = [...navigation.flatMap((group) => group.items), ...personal];
  const hrefs = items.map((item) => hrefOf(item, place));
  const keys = items.flatMap((item) => item.keys ?? []);
  assert.equal(new Set(hrefs).size, hrefs.length);
  assert.equal(new Set(keys).size, keys.length);
});
