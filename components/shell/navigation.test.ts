import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { activeItem, hrefInSpace, hrefOf, isHidden, navigation, neededFor, personal } from './navigation.ts';
import { pinnablePages } from './page-choices.ts';

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

test('every page but Home can be pinned', () => {
  const named = navigation.filter(({ label }) => label !== undefined);
  assert.deepEqual(
    named.flatMap(({ items }) => items),
    pinnablePages,
  );
});

test('what a page needs holds for the pages below it too, where lists of names lead to what must be read', () => {
  const needed = (pathname: string) => neededFor(pathname, place)?.capability;
  assert.equal(needed('/acme/live/routes'), 'route:list');
  assert.equal(needed('/acme/live/routes/6b7c'), 'route:read');
  assert.equal(needed('/acme/live/secrets/6b7c'), 'secret:read');
  assert.equal(needed('/acme/live/environments/compare'), 'environment:read');
  assert.equal(needed('/acme/settings/keys'), 'kms:read');
  assert.equal(needed('/acme/live'), undefined);
  assert.equal(needed('/me/profile'), undefined);
});

test('only a Viewer is spared a locked page, and only one that is for reading', () => {
  assert.equal(isHidden({ needs: 'kms:read' }, 'viewer'), true);
  assert.equal(isHidden({ needs: 'route:create' }, 'viewer'), false);
  for (const role of ['member', 'editor']) assert.equal(isHidden({ needs: 'kms:read' }, role), false);
  assert.equal(isHidden({}, 'viewer'), false);
});

test('the documentation that an item names exists', () => {
  const named = navigation.flatMap(({ items }) => items.flatMap(({ docs }) => docs ?? []));
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter((slug) => !existsSync(`docs/${slug}.md`)),
    [],
  );
});
