import assert from 'node:assert/strict';
import test from 'node:test';
import { CHANGELOG } from '#server/domain/changelog/entries.shared.ts';
import { changelogFeed, feedOf } from './changelog-feed.ts';

test('the feed has every entry once, with an address of this host that never changes', async () => {
  const response = changelogFeed();
  assert.match(response.headers.get('content-type') ?? '', /^application\/rss\+xml/);
  const text = await response.text();
  const guids = [...text.matchAll(/<guid isPermaLink="true">([^<]+)<\/guid>/g)].map(([, guid]) => new URL(guid ?? ''));
  assert.deepEqual(
    guids.map(({ pathname, hash }) => pathname + hash),
    CHANGELOG.map(({ id }) => `/changelog#${id}`),
  );
});

test('no title or text of an entry becomes markup of the feed', () => {
  const entry = { ...CHANGELOG[0]!, title: '</title><script>1 & 2</script>', text: ']]> <b>"x"</b>' };
  const text = feedOf([entry], 'https://admin.example.test');
  assert.ok(text.includes('<title>&lt;/title&gt;&lt;script&gt;1 &amp; 2&lt;/script&gt;</title>'));
  assert.equal(/<(?:script|b)[ >]/.test(text), false);
});
