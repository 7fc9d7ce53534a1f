import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { lostInRestore } from './restored.ts';

const { url } = await testDatabase();

test('a restore that lost its row policies is told with the way to a whole one; a whole database is not', async () => {
  assert.equal(await lostInRestore(url), undefined);
  await sql().query('drop policy own_space on secrets');
  assert.match(
    (await lostInRestore(url)) ?? '',
    /restored without the role sallyport_app.*CREATE ROLE sallyport_app NOLOGIN; GRANT sallyport_app TO/,
  );
});
