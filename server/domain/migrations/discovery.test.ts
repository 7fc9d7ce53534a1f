import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { wipeExpiredGrants } from './credentials.ts';
import { discover } from './discovery.ts';
import { type Provider, ProviderFault, TooLarge } from './providers/provider.ts';
import { discoverOne, resumeDiscoveries } from './worker.ts';

await testDatabase();

const owner = async () => (await workspace()).member('owner');
const started = async (ctx: Ctx, more: object = {}): Promise<string> =>
  (await made(ctx, 'migrations.create', { provider: 'env_file', content: 'A=1\n', file_name: `${fresh('f')}.env`, ...more })).id;
const detail = (ctx: Ctx, id: string) => made(ctx, 'migrations.get', { id });
const itemsOf = (id: string) => db().secret_migration_items.findMany({ where: { migration_id: id }, orderBy: { source_name: 'asc' } });

/** A store of so many secrets that counts what it is asked for. */
function store(names: readonly string[], { page = 10, version = '1' } = {}) {
  const asked = { lists: 0, fetched: [] as string[] };
  let at = async (_name: string): Promise<void> => {};
  const provider: Provider = {
    probe: async () => {},
    async list(cursor) {
      asked.lists++;
      const from = Number(cursor?.from ?? 0);
      const entries = names.slice(from, from + page).map((name) => ({
        ...{ ref: `store/${name}`, name, version: null, region: '', updated_at: null },
        tags: (name.startsWith('tagged') ? { owner: 'infra' } : {}) as Record<string, string>,
      }));
      return { entries, next: from + page < names.length ? { from: from + page } : null };
    },
    async readValue({ name }) {
      asked.fetched.push(name);
      await at(name);
      return { version, bytes: Buffer.from(`value of ${name}`), binary: false };
    },
    close: async () => {},
  };
  const before = (work: (name: string) => Promise<void>) => {
    at = work;
  };
  return { asked, open: async () => provider, before };
}
const numbered = (n: number) => Array.from({ length: n }, (_, i) => `n${String(i).padStart(4, '0')}`);
const FAST = 100_000;

test('what a grant is refused for leaves no row and no audit entry', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const aws = { role_arn: 'arn:aws:iam::111122223333:role/reader' };
  for (const [type, input] of [
    [
      'static_credentials_rejected',
      { provider: 'aws_sm', credentials: { ...aws, a: { b: { c: { Client_Secret: 'x' } } } }, scope: { regions: ['us-east-1'] } },
    ],
    ['static_credentials_rejected', { provider: 'gcp_sm', credentials: {}, scope: {}, service_account_json: '{}' }],
    ['static_credentials_rejected', { provider: 'aws_sm', credentials: aws, scope: { deep: [[{ secretAccessKey: 'x' }]] } }],
    ['validation_error', { provider: 'aws_sm', credentials: aws, scope: { regions: ['us-east-1.evil.example'] } }],
    ['validation_error', { provider: 'aws_sm', credentials: { role_arn: 'arn:aws:iam::1:user/x' }, scope: { regions: ['us-east-1'] } }],
    [
      'validation_error',
      { provider: 'aws_sm', credentials: { ...aws, external_id: `sallyport-${crypto.randomUUID()}` }, scope: { regions: ['us-east-1'] } },
    ],
    [
      'validation_error',
      {
        provider: 'azure_kv',
        credentials: { tenant_id: crypto.randomUUID(), client_id: crypto.randomUUID() },
        scope: { vault_names: ['a.evil.example/x'] },
      },
    ],
    ['validation_error', { provider: 'env_file', mode: 'both', content: 'A=1' }],
    ['validation_error', { provider: 'env_file', content: 'A=1', denylist: [{ pattern: '(a)\\1', kind: 'regex' }] }],
    ['provider_probe_failed', { provider: 'env_file', content: 'this is no line\n' }],
    ['provider_probe_failed', vaultAt('https://127.0.0.1:1')],
    ['provider_probe_failed', vaultAt('http://169.254.169.254')],
    ['provider_probe_failed', vaultAt('https://10.0.0.1')],
  ] as const)
    await assert.rejects(made(ctx, 'migrations.create', input), { type, status: 400 }, JSON.stringify(input));
  const own = { tenant_id: w.tenant.id };
  assert.deepEqual(
    [
      await db().secret_migrations.count({ where: own }),
      await db().secret_migration_credentials.count({ where: own }),
      await db().audit_logs.count({ where: own }),
      await db().audit_log_critical.count({ where: own }),
    ],
    [0, 0, 0, 0],
  );
});

const vaultAt = (address: string) => ({
  provider: 'hashicorp_vault',
  credentials: { address, auth: { method: 'wrapped_token', token: 'hvs.x' } },
  scope: { mounts: ['secret'] },
});

test('a worker that dies in the middle of a page is followed by one that adds what is missing, once', async () => {
  const ctx = await owner();
  const id = await started(ctx);
  const names = numbered(35);
  const first = store(names);
  const dying = new AbortController();
  first.before(async (name) => {
    if (name === 'n0017') {
      dying.abort();
      throw new Error('killed');
    }
  });
  assert.equal(await discover(db(), id, { open: first.open, rate: FAST, signal: dying.signal }), null);
  assert.equal((await itemsOf(id)).length, 17);
  assert.equal((await detail(ctx, id)).status, 'discovering');
  // As after a power cut: the lease still stands, and nobody may go on before it ends.
  await db().secret_migrations.update({ where: { id }, data: { lease_owner: 'dead', lease_expires_at: new Date(Date.now() + 30_000) } });
  const second = store(names);
  assert.equal(await discover(db(), id, { open: second.open, rate: FAST }), null);
  await db().secret_migrations.update({ where: { id }, data: { lease_expires_at: new Date(Date.now() - 1) } });
  assert.equal(await discover(db(), id, { open: second.open, rate: FAST }), 18);
  assert.deepEqual(
    (await itemsOf(id)).map((item) => item.source_name),
    names,
  );
  assert.deepEqual(second.asked.fetched, names.slice(17), 'what was there was fetched again');
  const { status, discovered_count, pending_count, started_at } = await detail(ctx, id);
  assert.deepEqual([status, discovered_count, pending_count, started_at !== null], ['awaiting_review', 35, 35, true]);
});

test('two workers at once are one at work', async () => {
  const ctx = await owner();
  const id = await started(ctx);
  const { open } = store(numbered(8));
  const added = await Promise.all([1, 2, 3].map(() => discover(db(), id, { open, rate: FAST })));
  assert.deepEqual(
    added.filter((n) => n !== null),
    [8],
  );
});

test('canceling stops a discovery before its next item, and what it had is gone', async () => {
  const ctx = await owner();
  const id = await started(ctx);
  const source = store(numbered(30));
  source.before(async (name) => {
    if (name === 'n0005') await made(ctx, 'migrations.cancel', { id });
  });
  await discover(db(), id, { open: source.open, rate: FAST });
  assert.equal(source.asked.fetched.at(-1), 'n0005', 'a call was made after the cancellation');
  const items = await itemsOf(id);
  assert.equal(items.length, 5);
  for (const item of items) assert.deepEqual([item.status, item.value_ct, item.cek_wrapped], ['rejected', null, null]);
  assert.equal((await detail(ctx, id)).status, 'cancelled');
});

test('what the denylist names is listed and never fetched', async () => {
  const ctx = await owner();
  await made(ctx, 'migrations.denylist.put', {
    patterns: [{ pattern: 'rds!*' }, { pattern: '^internal-[0-9]+$', kind: 'regex' }, { pattern: 'owner=infra', kind: 'tag' }],
  });
  const id = await started(ctx, { denylist: [{ pattern: '*/state/*' }] });
  const source = store(['rds!cluster', 'internal-7', 'internal-x', 'tagged', 'a/state/b', 'plain']);
  await discover(db(), id, { open: source.open, rate: FAST });
  assert.deepEqual(source.asked.fetched, ['internal-x', 'plain']);
  const { denylisted_count, pending_count } = await detail(ctx, id);
  assert.deepEqual([denylisted_count, pending_count], [4, 2]);
});

test('a newer version takes the place of one that waits, and of none that was decided', async () => {
  const ctx = await owner();
  const id = await started(ctx);
  await discover(db(), id, { open: store(['a', 'b']).open, rate: FAST });
  const [a, b] = await itemsOf(id);
  await db().secret_migration_items.update({ where: { id: a?.id as string }, data: { status: 'approved' } });
  await db().secret_migrations.update({ where: { id }, data: { status: 'failed' } });
  // The grant of a file ends with its discovery; that of another store doesn't.
  await db().secret_migration_credentials.updateMany({ where: { migration_id: id }, data: { expires_at: new Date(Date.now() + 60_000) } });
  await made(ctx, 'migrations.retry', { id });
  await discover(db(), id, { open: store(['a', 'b'], { version: '2' }).open, rate: FAST });
  const after = await itemsOf(id);
  assert.deepEqual(after.map(({ source_name, source_version, status }) => [source_name, source_version, status]).sort(), [
    ['a', '1', 'approved'],
    ['a', '2', 'pending_review'],
    ['b', '2', 'pending_review'],
  ]);
  assert.ok(!after.some((item) => item.id === b?.id), 'an approval of the old value would take the new one');
});

test('what can be tried again is, five times in a row, and what is refused for good fails at once', async () => {
  const ctx = await owner();
  const events = await watchEvents(ctx, 'migration.failed');
  const failing = (fault: Error) => async () => ({ ...(await store([]).open()), list: () => Promise.reject(fault) });
  const down = await started(ctx);
  for (let attempt = 1; attempt <= 5; attempt++) {
    await discover(db(), down, { open: failing(new ProviderFault('unreachable', 'vault.example.com could not be reached.')), rate: FAST });
    assert.equal((await detail(ctx, down)).status, attempt < 5 ? 'discovering' : 'failed');
    assert.equal(await discover(db(), down, { rate: FAST }), null, 'before its time');
    await db().secret_migrations.update({ where: { id: down }, data: { next_attempt_at: null } });
  }
  assert.deepEqual((await detail(ctx, down)).error_details, { code: 'unreachable', message: 'vault.example.com could not be reached.' });
  const denied = await started(ctx);
  await discover(db(), denied, { open: failing(new ProviderFault('access_denied', 'no')), rate: FAST });
  assert.equal((await detail(ctx, denied)).status, 'failed');
  assert.deepEqual(
    (await events()).map(({ about, data }) => [about, data.code]),
    [
      [down, 'unreachable'],
      [denied, 'access_denied'],
    ],
  );
  await made(ctx, 'migrations.retry', { id: denied });
  assert.equal((await resumeDiscoveries(db(), new Date(), AbortSignal.timeout(60_000))) >= 1, true);
  assert.deepEqual((await detail(ctx, denied)).status, 'awaiting_review');
});

test('a value that cannot be had is an item without one', async () => {
  const ctx = await owner();
  const id = await started(ctx);
  const source = store(['large', 'gone', 'fine']);
  source.before(async (name) => {
    if (name === 'large') throw new TooLarge();
    if (name === 'gone') throw new ProviderFault('not_found', 'gone');
  });
  await discover(db(), id, { open: source.open, rate: FAST });
  assert.deepEqual(
    (await itemsOf(id)).map((item) => [item.source_name, item.fetch_error, item.value_ct !== null]),
    [
      ['fine', null, true],
      ['gone', 'not_found', false],
      ['large', 'too_large', false],
    ],
  );
});

test('a .env file: quotes, escapes, several lines, comments, and the last of equal keys', async () => {
  const ctx = await owner();
  const content = [
    '# comment',
    'export PLAIN=one two # three',
    "LITERAL='$HOME \\n #'",
    'ESCAPED="a\\tb\\"c\\$d\\\\e"',
    'LONG="line 1',
    'line 2"',
    'TWICE=first',
    'TWICE=second',
    'EMPTY=',
  ].join('\n');
  const id = await started(ctx, { content, name_template: 'APP_{name}' });
  await discover(db(), id, { rate: FAST });
  const items = await itemsOf(id);
  assert.deepEqual(
    items.map((item) => [item.source_name, item.value_length, item.fetch_error]),
    [
      ['EMPTY', null, 'empty'],
      ['ESCAPED', 9, null],
      ['LITERAL', 10, null],
      ['LONG', 13, null],
      ['PLAIN', 7, null],
      ['TWICE', 6, null],
    ],
  );
  const twice = items.at(-1);
  const name = (twice?.suggested as { name: string } | undefined)?.name;
  assert.deepEqual([twice?.source_tags, name], [{ repeated: 'also on line 7' }, 'APP_TWICE']);
  assert.ok((await wipeExpiredGrants(db(), new Date())) >= 1, 'the file outlives its discovery');
  const grant = await db().secret_migration_credentials.findUniqueOrThrow({ where: { migration_id: id } });
  assert.deepEqual([grant.value_ct, grant.cek_wrapped], [null, null]);
});

test('the list shows exactly the hundred newest of a hundred and thirty', async () => {
  const ctx = await owner();
  const id = await started(ctx);
  const row = await db().secret_migrations.findUniqueOrThrow({ where: { id } });
  const { scope: _, credentials_summary: _c, denylist: _d, error_details: _e, cursor: _cu, ...plain } = row;
  const at = (i: number) => new Date(Date.now() - i * 1_000);
  await db().secret_migrations.createMany({
    data: Array.from({ length: 129 }, (_, i) => ({ ...plain, id: crypto.randomUUID(), status: 'completed', created_at: at(i + 1) })),
  });
  const { migrations } = await made(ctx, 'migrations.list', {});
  assert.deepEqual([migrations.length, migrations[0].id], [100, id]);
  const times = migrations.map((one: { created_at: string }) => one.created_at);
  assert.deepEqual(times, [...times].sort().reverse());
});

test('at most five migrations run or wait at once', async () => {
  const ctx = await owner();
  for (let i = 0; i < 5; i++) await started(ctx);
  await assert.rejects(started(ctx), { type: 'too_many_migrations', status: 409 });
  const { migrations } = await made(ctx, 'migrations.list', {});
  await made(ctx, 'migrations.cancel', { id: migrations[0].id });
  await started(ctx);
});

test('a store without an end holds the worker for a slice of time, and others get their turn between slices', async () => {
  const ctx = await owner();
  const id = await started(ctx);
  const lists = { n: 0 };
  const endless: Provider = {
    ...(await store([]).open()),
    async list(cursor) {
      if (++lists.n > 5_000) throw new ProviderFault('misconfigured', 'nobody stopped the discovery');
      return { entries: [], next: { from: Number(cursor?.from ?? 0) + 1 } };
    },
  };
  const open = async () => endless;
  assert.equal(await discover(db(), id, { open, rate: FAST, until: Date.now() + 300 }), null);
  const { status, error_details } = await detail(ctx, id);
  assert.deepEqual([status, error_details], ['discovering', null]);
  const row = await db().secret_migrations.findUniqueOrThrow({ where: { id } });
  assert.ok(row.lease_owner === null && Number((row.cursor as { from: number }).from) > 0, 'the next slice goes on from there');
});

test('discoveries leave half of the queue to everything else, whoever started them', async () => {
  const ids = await Promise.all([owner(), owner(), owner()].map(async (ctx) => started(await ctx)));
  const held = Promise.withResolvers<void>();
  let reading = 0;
  const slow = store(['a']);
  slow.before(() => {
    reading++;
    return held.promise;
  });
  const signal = AbortSignal.timeout(60_000);
  const running = ids.map((id) => discoverOne(db(), { migration_id: id }, signal, { open: slow.open, rate: FAST }));
  assert.equal(await running[2], 0, 'three at once');
  held.resolve();
  assert.deepEqual(await Promise.all(running), [1, 1, 0]);
  assert.equal(reading, 2);
  assert.equal(await discoverOne(db(), { migration_id: ids[2] }, signal, { open: slow.open, rate: FAST }), 1);
});
