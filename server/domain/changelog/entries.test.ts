import assert from 'node:assert/strict';
import test from 'node:test';
import { VERSIONS } from '#server/kernel/versions.ts';
import { CHANGELOG, CHANGELOG_AREAS, unreadEntries } from './entries.shared.ts';

test('every version of the API has its entry, of the day it was released', () => {
  for (const { version, released_at } of VERSIONS) {
    const entry = CHANGELOG.find(({ id }) => id === `api-${version}`);
    assert.equal(entry?.date, released_at, version);
    assert.ok(entry?.areas.includes('api') && entry.title.includes(version), version);
  }
  assert.deepEqual(
    CHANGELOG.filter(({ id }) => id.startsWith('api-')).map(({ id }) => id),
    VERSIONS.map(({ version }) => `api-${version}`),
  );
});

test('entries come newest first, under names that are used once and real days, and each area has one', () => {
  const dates = CHANGELOG.map(({ date }) => date);
  assert.deepEqual(dates, dates.toSorted().reverse());
  for (const date of dates) assert.equal(new Date(date).toISOString().slice(0, 10), date);
  assert.equal(new Set(CHANGELOG.map(({ id }) => id)).size, CHANGELOG.length);
  for (const area of CHANGELOG_AREAS)
    assert.ok(
      CHANGELOG.some(({ areas }) => areas.includes(area)),
      area,
    );
});

test('unread is what stands above the entry seen last; who has seen none has missed what came after them', () => {
  const entry = (id: string, date: string) => ({ ...CHANGELOG[0]!, id, date });
  const list = [entry('c', '2026-03-01'), entry('b', '2026-02-01'), entry('a', '2026-01-01')];
  const unread = (seen: string | null, since: string) => unreadEntries(seen, new Date(since), list);
  assert.equal(unread('c', '2020-01-01'), 0);
  assert.equal(unread('b', '2020-01-01'), 1);
  assert.equal(unread(null, '2026-01-15'), 2);
  assert.equal(unread(null, '2026-03-02'), 0);
  assert.equal(unread('withdrawn', '2026-02-15'), 1);
});
