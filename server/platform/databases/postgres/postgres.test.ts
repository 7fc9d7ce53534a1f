import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { createResolver } from '../../http-out/resolver.ts';
import { loopback } from '../../http-out/upstream.fixture.ts';
import { openDatabase } from '../open.ts';

test('opens', async () => {
  const url = new URL(process.env.TEST_PG_URL as string);
  console.log(url.protocol, url.hostname, url.port, url.search);
  const s = await openDatabase({ engine: 'postgres', host: '127.0.0.1', port: Number(url.port), database: 'postgres', username: url.username, password: decodeURIComponent(url.password), options: { sslmode: 'disable' } }, createResolver({ settings: loopback }));
  console.log(s.serverVersion, await s.missingPrivileges(), await s.mintedUsers());
  console.log(await s.run("select pg_sleep(0)"));
  await s.close();
  assert.ok(pg);
});
