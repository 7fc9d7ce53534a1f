import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';
import { type DraftPlace, draftAt, dropDraft, isTelling, keepDraft } from './drafts.ts';
import { forgetDrafts } from './forget-drafts.ts';

const stored = new Map<string, string>();
/** The storage of a tab as browsers have it: names are its own enumerable members. */
beforeEach(() => {
  stored.clear();
  globalThis.sessionStorage = new Proxy({} as Storage, {
    get: (_, name) =>
      ({
        getItem: (key: string) => stored.get(key) ?? null,
        setItem: (key: string, value: string) => stored.set(key, value),
        removeItem: (key: string) => stored.delete(key),
      })[name as 'getItem'],
    ownKeys: () => [...stored.keys()],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });
});

const place: DraftPlace = { person: 'ada', slug: 'acme', space: 'test', form: 'routes/1' };
const at = '2026-11-21T12:00:00.000Z';
const keep = (values: Record<string, unknown>, secret?: string[]) =>
  keepDraft(place, { at, version: at, base: { name: 'Old', value: '' }, values }, secret);

test('what was typed is there again, with the version it was typed over', () => {
  keep({ name: 'New' });
  assert.deepEqual(draftAt(place), { at, version: at, base: { name: 'Old', value: '' }, values: { name: 'New' }, left_out: [] });
  dropDraft(place);
  assert.equal(draftAt(place), undefined);
});

test('a field marked secret is never stored, neither what was typed nor what was there before', () => {
  keep({ name: 'New', value: 'correct horse battery' }, ['value']);
  assert.doesNotMatch([...stored.values()].join(), /correct horse/);
  assert.deepEqual(draftAt(place)?.left_out, ['value']);
  assert.deepEqual(draftAt(place)?.base, { name: 'Old' });
});

test('a credential typed where none belongs is not stored either, however deep it stands', () => {
  const credentials = [
    `sk_live_${'a'.repeat(24)}`,
    `ghp_${'A1'.repeat(18)}`,
    '-----BEGIN PRIVATE KEY-----\nMIIE',
    { Authorization: 'Bearer hunter2hunter2' },
    { 'x-api-key': 'abcdefgh1' },
    [{ headers: { 'X-Auth-Token': 'abcdefgh1' } }],
    'https://user:pass@api.example.com/v1',
    'https://api.example.com/v1?api_key=abc',
    'postgres://:pw@db/x',
  ];
  for (const credential of credentials) {
    keep({ name: 'New', description: credential });
    assert.deepEqual(draftAt(place)?.left_out, ['description'], JSON.stringify(credential));
    assert.deepEqual(draftAt(place)?.values, { name: 'New' });
  }
  for (const harmless of [{ Authorization: 'Bearer {{secret:STRIPE}}' }, 'https://api.example.com/v1', 'Mail ada@example.com', 42, null])
    assert.equal(isTelling(harmless), false, JSON.stringify(harmless));
});

test('a draft of which nothing may be kept leaves nothing behind, not even an older one', () => {
  keep({ name: 'New' });
  keep({ value: 'x' }, ['value']);
  assert.equal(stored.size, 0);
});

test('sign-out forgets every draft; another person of the tab finds none of the last one', () => {
  keep({ name: 'New' });
  stored.set('other', 'stays');
  assert.equal(draftAt({ ...place, person: 'grace' }), undefined);
  assert.equal(draftAt({ ...place, space: 'live' }), undefined);
  forgetDrafts('ada');
  assert.ok(draftAt(place));
  forgetDrafts('ad');
  assert.equal(draftAt(place), undefined);
  keep({ name: 'New' });
  forgetDrafts();
  assert.deepEqual([...stored.keys()], ['other']);
});

test('without storage, or with something else in it, forms work as ever', () => {
  stored.set('draft:ada/acme/test/routes/1', '{"values":');
  assert.equal(draftAt(place), undefined);
  globalThis.sessionStorage = {
    setItem() {
      throw new DOMException('full', 'QuotaExceededError');
    },
  } as unknown as Storage;
  keep({ name: 'New' });
  forgetDrafts();
});
