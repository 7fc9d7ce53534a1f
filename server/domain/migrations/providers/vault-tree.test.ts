import assert from 'node:assert/strict';
import test from 'node:test';
import type { StoreHttp } from './http.ts';
import { type Cursor, ProviderFault } from './provider.ts';
import { vault } from './vault.ts';

const answer = (data: unknown) => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify({ data })) }) as never;

/** A hostile Vault, each of whose folders holds these keys. */
const hostile = (keys: readonly string[]): StoreHttp => ({
  send: async ({ url }) => (url.includes('/sys/internal/') ? answer({ type: 'kv', options: { version: '2' } }) : answer({ keys })),
  close: async () => {},
});

const walked = async (keys: readonly string[], most: number): Promise<{ pages: number; largest: number; fault: unknown }> => {
  const provider = vault({ address: 'https://vault.example.com', mounts: ['secret'], path_prefixes: [] }, { token: 't' }, hostile(keys));
  let cursor: Cursor | null = null;
  let largest = 0;
  for (let pages = 1; pages <= most; pages++) {
    try {
      cursor = (await provider.list(cursor, new AbortController().signal)).next;
    } catch (fault) {
      return { pages, largest, fault };
    }
    largest = Math.max(largest, JSON.stringify(cursor).length);
    if (cursor === null) return { pages, largest, fault: undefined };
  }
  return { pages: most, largest, fault: undefined };
};

test('a tree of folders without an end is refused before it fills the memory or the row', async () => {
  const wide = await walked(
    Array.from({ length: 5_000 }, (_, i) => `${'f'.repeat(100)}${i}/`),
    10,
  );
  assert.ok(
    wide.fault instanceof ProviderFault && wide.fault.reason === 'misconfigured',
    `${wide.pages} pages, ${wide.largest} characters`,
  );
  assert.ok(wide.largest <= 2 * 1024 * 1024);
  const deep = await walked(['a/'], 2_000);
  assert.ok(deep.fault instanceof ProviderFault && deep.fault.reason === 'misconfigured', `${deep.pages} pages`);
  const both = await walked(['a/', 'b/'], 2_000);
  assert.ok(both.fault instanceof ProviderFault && both.fault.reason === 'misconfigured', `${both.pages} pages`);
});
