import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { test } from 'node:test';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { confirming } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { getElements, setElementOrigins } from './service.ts';

await testDatabase();

test('stores origins in the spelling of browsers, each once, with an audit entry that says what changed', async () => {
  const w = await workspace();
  const ctx = w.member('admin');
  const set = await setElementOrigins(await confirming(ctx, 'protection.loosen'), {
    origins: ['https://Shop.example.com:443', 'https://a.example.com', 'https://shop.example.com'],
  });
  assert.deepEqual(set.origins, ['https://a.example.com', 'https://shop.example.com']);
  assert.deepEqual((await getElements(ctx)).origins, set.origins);
  await setElementOrigins(ctx, { origins: ['https://shop.example.com', 'https://a.example.com'] });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'element_settings' } });
  assert.equal(entries.length, 1, 'saving the same again changes nothing');
  assert.equal(entries[0]?.action, 'update');
  const details = entries[0]?.details as { changes: unknown } | undefined;
  assert.deepEqual(details?.changes, [{ field: 'origins', from: [], to: set.origins }]);
});

test('keeps Live and Test apart; only Test takes local pages', async () => {
  const w = await workspace();
  const live = w.member('owner');
  const sandbox = w.member('owner', 'test');
  await setElementOrigins(await confirming(sandbox, 'protection.loosen'), { origins: ['http://localhost:5173'] });
  assert.deepEqual((await getElements(live)).origins, []);
  await assert.rejects(setElementOrigins(live, { origins: ['https://a.example.com', 'http://localhost:5173'] }), {
    type: 'validation_error',
    message: /^origins: entry 2 /,
  });
  assert.ok((await getElements(sandbox)).script_url.startsWith(env.PUBLIC_SANDBOX_API_URL));
});

test('tells the integrity of the bytes that are served', async () => {
  const w = await workspace();
  const { integrity, script_url, versioned_url } = await getElements(w.member('viewer'));
  const bytes = fs.readFileSync('server/generated/elements/seal.js');
  assert.equal(integrity, `sha384-${createHash('sha384').update(bytes).digest('base64')}`);
  assert.ok(versioned_url.startsWith(`${script_url}?v=`));
});
