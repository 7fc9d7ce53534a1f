import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { families as serverFamilies } from '#server/domain/families.ts';
import { idPickers } from './explorer/id-pickers.ts';
import { families } from './families.ts';
import type { FamilyPage, PageScope } from './shell/page-family.ts';
import { pageKeywords } from './shell/page-keywords.ts';

const pages = families.flatMap((family) => family.pages);
/** Where the pages of a scope stand under `app/(dashboard)`. */
const folders: Record<PageScope, string> = { space: '[workspace]/[space]', workspace: '[workspace]', person: '' };
const fileOf = ({ scope, path: at }: FamilyPage) => path.posix.join('app/(dashboard)', folders[scope], at, 'page.tsx');

test('every page of the dashboard belongs to one family, and every page of a family exists', () => {
  const found = fs
    .globSync('app/(dashboard)/**/page.tsx')
    .filter((file) => !file.includes('[...missing]'))
    // The page of a workspace leads to its Home and shows nothing of its own.
    .filter((file) => file !== 'app/(dashboard)/[workspace]/page.tsx');
  const declared = pages.map(fileOf);
  assert.deepEqual(new Set(declared).size, declared.length);
  const home = pages.filter((page) => page.path === '').map(fileOf);
  const folder = (file: string) => path.dirname(file);
  // A page may stand below another: `/ai/spend` and what is under it belong to itself, not to `/ai`.
  const owners = (file: string) => {
    const above = declared.filter((one) => one === file || (!home.includes(one) && file.startsWith(`${folder(one)}/`)));
    const nearest = Math.max(...above.map((one) => folder(one).length));
    return above.filter((one) => folder(one).length === nearest);
  };
  for (const file of found) assert.equal(owners(file).length, 1, `${file} belongs to ${owners(file).join(' and ') || 'no family'}`);
  for (const file of declared) assert.ok(found.includes(file), `${file} is missing`);
});

test('every descriptor is in the list, once, under the name of its folder', () => {
  const described = fs.globSync('components/*/family.ts').map((file) => path.basename(path.dirname(file)));
  assert.deepEqual(families.map(({ name }) => name).sort(), described.filter((name) => name !== 'shell').sort());
});

test('a page is titled as it is listed', () => {
  for (const page of pages) {
    const [, title] = /metadata: Metadata = \{ title: '([^']+)'/.exec(fs.readFileSync(fileOf(page), 'utf8')) ?? [];
    assert.equal(title, page.label, fileOf(page));
  }
});

test('no two pages share an id, or a place in a group or among the start pages', () => {
  const places = pages.map(({ group, order }) => `${group} ${order}`);
  const landings = pages.flatMap(({ landing }) => landing ?? []);
  for (const each of [pages.map(({ id }) => id), places, landings]) assert.equal(new Set<unknown>(each).size, each.length, each.join(', '));
});

test('what is kept apart from the families is of a family or a page that exists', () => {
  const ids = new Set(pages.map(({ id }) => id));
  assert.deepEqual(
    Object.keys(pageKeywords).filter((id) => !ids.has(id)),
    [],
  );
  const names = new Set(families.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(idPickers).filter((name) => !names.has(name)),
    [],
  );
});

test('a page keeps views by the rules that the server applies', () => {
  const onServer = serverFamilies.flatMap((family) => ('savedViews' in family ? Object.entries<{ share: string }>(family.savedViews) : []));
  const onPages = pages.flatMap(({ savedViews }) => (savedViews ? [[savedViews.name, savedViews.share]] : []));
  assert.deepEqual(onPages.sort(), onServer.map(([name, { share }]) => [name, share]).sort());
});
