import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import pg from 'pg';
import { parseEnv } from '#server/platform/env.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { database } from './database.ts';
import type { Finding } from './finding.ts';

const { url } = await ownDatabase();
const own = new URL(url).pathname.slice(1);
const role = `doctor_${process.pid}`;
after(() => asSuperuser(`drop role if exists ${role}`));

async function asSuperuser(...statements: string[]) {
  const client = new pg.Client({ connectionString: process.env.TEST_PG_URL });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** What doctor says of the database at an address. */
async function findings(address: URL): Promise<Finding[]> {
  const before = process.env.DATABASE_URL;
  process.env.DATABASE_URL = address.toString();
  const found: Finding[] = [];
  await database(parseEnv(process.env), undefined, (what, finding) => void (what === 'Database' && found.push(finding)));
  process.env.DATABASE_URL = before;
  return found;
}

test('a database that the first start creates is a warning, and one that this user may not create is a failure', async () => {
  const none = new URL(url);
  none.pathname = '/not_there_yet';
  const [missing, ...more] = await findings(none);
  assert.deepEqual([missing?.state, more], ['WARN', []]);
  assert.match(`${missing?.says} ${missing?.next}`, /not_there_yet doesn't exist yet The first start creates it/);
  await asSuperuser(`create role ${role} login`);
  none.username = role;
  const [refused] = await findings(none);
  assert.equal(refused?.state, 'FAIL');
  assert.match(
    `${refused?.says} ${refused?.next}`,
    new RegExp(`${role} may not create it .*CREATE DATABASE "not_there_yet".* OWNER "${role}"`),
  );
});

test('a read-only database is told with the statement that undoes it, by where it was set', async () => {
  const address = new URL(url);
  const me = decodeURIComponent(address.username);
  const cases = [
    [`alter database "${own}" set default_transaction_read_only = on`, `ALTER DATABASE "${own}" RESET default_transaction_read_only;`],
    [
      `alter role "${me}" in database "${own}" set default_transaction_read_only = on`,
      `ALTER ROLE "${me}" IN DATABASE "${own}" RESET default_transaction_read_only;`,
    ],
  ] as const;
  for (const [spoils, undoes] of cases) {
    await asSuperuser(spoils);
    const found = await findings(address);
    const told = found.find(({ state }) => state === 'FAIL');
    await asSuperuser(undoes);
    assert.equal(told?.next, `Run: ${undoes}`);
    assert.deepEqual(
      (await findings(address)).filter(({ state }) => state === 'FAIL'),
      [],
      'and it does',
    );
  }
});
