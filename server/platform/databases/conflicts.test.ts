import assert from 'node:assert/strict';
import test from 'node:test';
import { retryConflicts } from './conflicts.ts';
import { faultOf, here, mintedName, PASSWORD } from './databases.fixture.ts';
import type { DatabaseTarget } from './engine.ts';
import { DatabaseFault } from './fault.ts';
import { failure, replayServer as replayMongo } from './mongo/replay.fixture.ts';
import { mssqlFault } from './mssql/fault.ts';
import { replayServer as replayMssql } from './mssql/replay.fixture.ts';
import { mysqlFault } from './mysql/fault.ts';
import { openDatabase } from './open.ts';
import { postgresFault } from './postgres/fault.ts';

const NOBODY = { names: new Set<string>(), passwords: new Set<string>() };
const target = (engine: 'mssql' | 'mongo', port: number): DatabaseTarget => ({
  ...{ engine, host: 'db.example.com', port, database: 'shop', username: 'broker', password: 'admin-password' },
  options: { ...(engine === 'mongo' ? { tls: false } : { sslmode: 'disable' }), connect_timeout_ms: 60_000, statement_timeout_ms: 60_000 },
});

test('each engine tells a conflict of two sessions from any other refusal', () => {
  const postgres = (code: string, message: string) => postgresFault({ code, message, severity: 'ERROR' }, 'statement', NOBODY).conflict;
  assert.deepEqual(
    [
      postgres('XX000', 'tuple concurrently updated'),
      postgres('XX000', 'tuple concurrently deleted'),
      postgres('XX000', 'cache lookup failed for role 16411'),
      postgres('40001', 'could not serialize access due to concurrent update'),
      postgres('40P01', 'deadlock detected'),
      postgres('XX000', 'unexpected end of index'),
      postgres('42501', 'permission denied: tuple concurrently updated'),
    ],
    [true, true, true, true, true, false, false],
  );
  const mysql = (errno: number) => mysqlFault({ errno, sqlState: 'HY000', sqlMessage: 'no' }, 'statement', NOBODY).conflict;
  assert.deepEqual([1205, 1213, 1020, 1044, 3024].map(mysql), [true, true, true, false, false]);
  const mssql = (number: number) => mssqlFault({ number, message: 'no' }, 'statement', NOBODY).conflict;
  assert.deepEqual([1205, 1222, 3960, 3961, 15_434, 229].map(mssql), [true, true, true, true, false, false]);
});

test('a creation begins again from its start after a conflict, and leaves no transaction open (replayed SQL Server)', async () => {
  const server = await replayMssql();
  const session = await openDatabase(target('mssql', server.port), here);
  const name = mintedName();
  let deadlocks = 2;
  server.answer = (batch) =>
    batch.startsWith('CREATE USER') && deadlocks-- > 0 ? { error: 1205, message: 'was chosen as the deadlock victim' } : undefined;
  server.batches.length = 0;
  const creation = [`CREATE LOGIN [${name}] WITH PASSWORD = '${PASSWORD}'`, `CREATE USER [${name}] FOR LOGIN [${name}]`];
  await session.createUser({ username: name, password: PASSWORD }, creation);
  const words = server.batches.map((batch) => batch.split(' ').slice(0, 2).join(' '));
  const attempt = ['SET CONTEXT_INFO', 'BEGIN TRANSACTION', 'CREATE LOGIN', 'CREATE USER'];
  assert.deepEqual(words, [...attempt, 'IF @@TRANCOUNT', ...attempt, 'IF @@TRANCOUNT', ...attempt, 'COMMIT TRANSACTION']);
  let busy = 1;
  server.answer = (batch) => (batch.startsWith('DROP USER') && busy-- > 0 ? { error: 1222, message: 'Lock request time out' } : undefined);
  await session.dropUser(name, null);
  assert.equal(busy, -1);
  await session.close();
});

test('commands about users are repeated after a write conflict (replayed MongoDB)', async () => {
  const server = await replayMongo();
  const session = await openDatabase(target('mongo', server.port), here);
  const username = mintedName();
  const conflicts = new Map([
    ['createUser', 2],
    ['dropUser', 2],
    ['updateUser', 1],
  ]);
  server.answer = (name) => {
    const left = conflicts.get(name) ?? 0;
    conflicts.set(name, left - 1);
    return left > 0 ? failure(112, 'WriteConflict', 'Caused by :: write conflict') : undefined;
  };
  await session.createUser({ username, password: PASSWORD }, ['{"roles":[]}']);
  await session.setOwnPassword('A-new-password_of-32-characters0');
  await session.dropUser(username, null);
  assert.equal(await session.userExists(username), false);
  assert.deepEqual([...conflicts.values()].slice(0, 3), [-1, -1, -1]);
  await session.close();
});

test('a conflict that goes on is told with what to do, and nothing else is repeated', async () => {
  let calls = 0;
  const failing = (conflict: boolean) => () => {
    calls++;
    return Promise.reject(new DatabaseFault('database_error', 'statement', 'tuple concurrently updated', { code: 'XX000', conflict }));
  };
  const fault = await faultOf(retryConflicts(failing(true), 60));
  assert.ok(calls > 1);
  assert.deepEqual(
    [fault.code, fault.text],
    ['XX000', 'tuple concurrently updated. Other sessions kept changing the same objects of the database. Try again.'],
  );
  calls = 0;
  assert.equal((await faultOf(retryConflicts(failing(false)))).text, 'tuple concurrently updated');
  assert.equal(calls, 1);
});
