import assert from 'node:assert/strict';
import test from 'node:test';
import type { Actor, Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { knownCountries, placeIn } from '#server/platform/geoip.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { keyActor, memberActor, workspace } from '#server/testing/workspace.ts';
import { appendCritical } from './critical.ts';
import { exportAuditLogs } from './export.ts';
import { AuditFacetsQuery, BrowseAuditLogs, ExportAuditLogs, ListAuditLogs } from './schema.ts';
import { auditFacets, browseAuditLogs, getAuditLog, listAuditLogs } from './service.ts';

// What the timeline finds and counts is held against all its entries, read plainly.

knownCountries({ '203.0.113.0/26': placeIn('DE'), '2001:db8::/32': placeIn('JP') });
await testDatabase();

const NAMES = [
  'Payments',
  'payments (copy)',
  '100% of it',
  'a_b',
  'axb',
  'back\\slash',
  "o'brien",
  'Größe ÄÖÜ',
  '日本語',
  '😀',
  ' ',
  'e1',
  'x',
];
const ADDRESSES = ['203.0.113.9', '203.0.113.90', '2001:db8::1', null];
const ACTIONS = ['create', 'update', 'delete'];
const TYPES = ['route', 'secret', 'client', 'api_key'];

async function filled(ctx: Ctx, count: number) {
  for (let i = 0; i < count; i++) {
    const made = { ...ctx, ip: ADDRESSES[i % ADDRESSES.length] ?? null, now: new Date(Date.now() - (count - (i >> 1)) * 1_000) } as Ctx;
    await mutate(made, async (tx) => {
      const entry = { action: ACTIONS[i % 3] ?? '', resource_type: TYPES[i % 4] ?? '', resource_id: `id-${i}` };
      if (i % 9 === 0)
        await appendCritical(tx, made, {
          ...entry,
          action: 'byok.kms.rotate',
          resource_type: 'tenant_master_key',
          details: { name: NAMES[i % NAMES.length], sandbox: ctx.sandbox },
        });
      return audited(undefined, { ...entry, name: NAMES[i % NAMES.length] ?? '' });
    });
  }
}

type Entry = Awaited<ReturnType<typeof browseAuditLogs>>['entries'][number];
const browse = async (ctx: Ctx, query: object): Promise<Entry[]> => {
  const entries: Entry[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await browseAuditLogs(ctx, BrowseAuditLogs.parse({ limit: 7, ...query, ...(before ? { before } : {}) }));
    entries.push(...page.entries);
    before = page.next;
  }
  return entries;
};
const ids = (entries: readonly Entry[]) => entries.map(({ id }) => id);

const w = await workspace();
const owner = w.member('owner');
await filled(owner, 90);
await filled((await workspace()).live, 10);
await filled({ ...w.test }, 10);
const all = await browse(owner, { limit: 200 });

test('the timeline by address is its entries of that address and no other, in its order', async () => {
  const { rows } = await sql().query<{ n: number }>(
    `select (select count(*) from audit_logs where tenant_id = $1 and not sandbox)::int + (select count(*) from audit_log_critical where tenant_id = $1 and not (details ->> 'sandbox')::boolean)::int as n`,
    [w.tenant.id],
  );
  assert.equal(all.length, rows[0]?.n);
  for (const ip of ['203.0.113.9', '203.0.113.90', '2001:db8::1', '203.0.113', '%', "' or true --", '0.0.0.0'])
    assert.deepEqual(ids(await browse(owner, { ip })), ids(all.filter((entry) => entry.ip_address === ip)), ip);
});

test('a search of the timeline takes its text as it stands, however short, in any script', async () => {
  for (const q of [
    'pay',
    'PAYMENTS',
    '%',
    '_',
    'a_b',
    'back\\',
    '\\',
    "o'b",
    'größe',
    '日',
    '😀',
    'e1',
    'x',
    'id-8',
    'nothing like it',
    "'; drop table audit_logs; --",
  ]) {
    const part = q.toLowerCase();
    const holds = ({ details, resource_id, actor }: Entry) =>
      [(details as { name?: string }).name, resource_id, actor.label].some((text) => text?.toLowerCase().includes(part));
    // Labels of the chain are looked up when it is read: what is searched there is its ids.
    const general = (entries: readonly Entry[]) => ids(entries.filter(({ store }) => store === 'general'));
    assert.deepEqual(general(await browse(owner, { q })), general(all.filter(holds)), q);
  }
});

test('who may not read details does not find out the names in them by searching: ids and actors are found, names are not', async () => {
  const viewer = w.member('viewer');
  for (const q of ['Payments', 'pay', '日本語', "o'b"]) {
    assert.ok((await browse(owner, { q })).length > 0, q);
    assert.deepEqual(ids(await browse(viewer, { q })), [], q);
    assert.deepEqual((await auditFacets(viewer, AuditFacetsQuery.parse({ q }))).actions, [], q);
  }
  for (const q of ['id-8', 'ID-8', owner.actor.label])
    assert.deepEqual(
      ids(await browse(viewer, { q })),
      ids(
        all.filter((e) =>
          [e.resource_id, ...(e.store === 'general' ? [e.actor.label] : [])].some((text) => text?.toLowerCase().includes(q.toLowerCase())),
        ),
      ),
      q,
    );
});

test('facets count the entries that pass, each action, type and actor once, the most frequent first', async () => {
  for (const query of [{}, { action: 'create' }, { ip: '2001:db8::1' }, { q: 'pay' }, { store: 'critical' }, { action: 'nothing' }]) {
    const passing = await browse(owner, query);
    const counted = (of: (entry: Entry) => string) => {
      const counts = new Map<string, number>();
      for (const entry of passing) counts.set(of(entry), (counts.get(of(entry)) ?? 0) + 1);
      return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
    };
    const facets = await auditFacets(owner, AuditFacetsQuery.parse(query));
    const told = (list: readonly { value: string; count: number }[]) => list.map(({ value, count }) => [value, count]);
    assert.deepEqual(
      told(facets.actions),
      counted(({ action }) => action),
      JSON.stringify(query),
    );
    assert.deepEqual(
      told(facets.resource_types),
      counted(({ resource_type }) => resource_type),
    );
    assert.deepEqual(
      told(facets.actors),
      counted(({ actor }) => actor.id ?? 'system'),
    );
  }
});

test('of many entries a stretch of time is counted truly and a text is found, be it in none of them, a few, half or all but a few', async () => {
  const many = await workspace();
  const COUNT = 18_000;
  const now = Math.floor(Date.now() / 1_000) * 1_000;
  await sql().query(
    `insert into audit_logs (id, tenant_id, sandbox, action, resource_type, details, actor_type, created_at)
      select gen_random_uuid(), $1, false, 'update', 'route', jsonb_build_object('name', case when i % 3 = 0 then '100% Paid ' else 'other ' end || i), 'system', $2::timestamptz - i * interval '1 second' from generate_series(0, $3::int - 1) i`,
    [many.tenant.id, new Date(now), COUNT],
  );
  const at = (i: number) => new Date(now - i * 1_000).toISOString();
  for (const [newest, oldest] of [
    [0, COUNT - 1],
    [0, 30],
    [900, COUNT - 1],
    [1_500, COUNT - 1],
    [0, 1_000],
    [4_500, 13_500],
    [600, COUNT - 600],
    [COUNT, COUNT + 5],
    [50, 40],
  ] as const) {
    const { total } = await listAuditLogs(many.live, ListAuditLogs.parse({ from: at(oldest), to: at(newest), per_page: 1 }));
    assert.equal(total, Math.max(0, Math.min(oldest, COUNT - 1) - newest + 1), `${newest} to ${oldest}`);
  }

  const found = async (q: string) =>
    (await browseAuditLogs(many.live, BrowseAuditLogs.parse({ q, limit: 60 }))).entries.map(
      ({ details }) => (details as { name: string }).name,
    );
  const names = (step: number, last: number) =>
    Array.from({ length: COUNT }, (_, i) => i)
      .filter((i) => i % step === 0 && i <= last)
      .map((i) => `100% Paid ${i}`);
  const all = names(3, COUNT);
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await found('0% PAID'), all.slice(0, 60), 'thousands');
    assert.deepEqual(await found('paid 999'), all.filter((name) => name.includes('Paid 999')).slice(0, 60), 'a few');
  }
  await sql().query('delete from audit_logs where tenant_id = $1 and created_at < $2', [many.tenant.id, at(30)]);
  assert.deepEqual(await found('0% PAID'), names(3, 30), 'and when retention took most of them');
});

test('a filtered total is the true one after every new entry of either store, and after retention', async () => {
  const v = await workspace();
  const total = async (query: object) => (await listAuditLogs(v.live, ListAuditLogs.parse(query))).total;
  const told = async () => [
    await total({ action: 'update' }),
    await total({ resource_type: 'tenant_master_key' }),
    await total({ action: 'update', chain: 'general' }),
  ];
  const write = (action: string) => mutate(v.live, async () => audited(undefined, { action, resource_type: 'route', resource_id: 'r' }));
  const [updates = 0, keys = 0, general = 0] = await told();
  assert.deepEqual(await told(), [updates, keys, general], 'asked again');
  await write('update');
  assert.deepEqual(await told(), [updates + 1, keys, general + 1]);
  await mutate(v.live, async (tx) => {
    await appendCritical(tx, v.live, { action: 'byok.kms.rotate', resource_type: 'tenant_master_key', resource_id: 'k', details: {} });
    return audited(undefined, { action: 'create', resource_type: 'route', resource_id: 'r' });
  });
  assert.deepEqual(await told(), [updates + 1, keys + 1, general + 1]);
  await assert.rejects(
    mutate(v.live, async (tx) => {
      await tx.audit_logs.createMany({
        data: [
          {
            id: crypto.randomUUID(),
            tenant_id: v.tenant.id,
            sandbox: false,
            action: 'update',
            resource_type: 'route',
            details: {},
            actor_type: 'system',
          },
        ],
      });
      assert.equal(
        (await listAuditLogs({ ...v.live, tx }, ListAuditLogs.parse({ action: 'update' }))).total,
        updates + 2,
        'within the transaction',
      );
      throw new Error('undone');
    }),
    /undone/,
  );
  await assert.rejects(
    inTransaction(v.live, async (tx) => {
      const inside = { ...v.live, tx };
      await appendCritical(tx, inside, { action: 'byok.kms.rotate', resource_type: 'tenant_master_key', resource_id: 'k', details: {} });
      const { total } = await listAuditLogs(inside, ListAuditLogs.parse({ resource_type: 'tenant_master_key', chain: 'critical' }));
      assert.equal(total, keys + 2);
      throw new Error('undone');
    }),
    /undone/,
  );
  // The chain is as long again, with another entry.
  await inTransaction(v.live, (tx) =>
    appendCritical(tx, v.live, { action: 'byok.kms.revoke', resource_type: 'tenant_kms_config', resource_id: 'k', details: {} }),
  );
  assert.equal(await total({ resource_type: 'tenant_master_key', chain: 'critical' }), keys + 1);
  await write('update');
  assert.deepEqual(await told(), [updates + 2, keys + 1, general + 2]);
  await sql().query("delete from audit_logs where tenant_id = $1 and action = 'update'", [v.tenant.id]);
  assert.deepEqual(await told(), [0, keys + 1, 0]);
});

test('a text that was looked for before is found in what is there now: after a new entry, an undone one and retention', async () => {
  const v = await workspace();
  const found = async (ctx: Ctx = v.live) => (await browseAuditLogs(ctx, BrowseAuditLogs.parse({ q: 'needle' }))).entries.length;
  const write = (name: string, ctx: Ctx = v.live) =>
    mutate(ctx, async () => audited(undefined, { action: 'update', resource_type: 'route', resource_id: 'r', name }));
  assert.deepEqual([await found(), await found()], [0, 0]);
  await write('a needle');
  await write('hay');
  assert.deepEqual([await found(), await found()], [1, 1]);
  await write('needle of Test', v.test);
  assert.deepEqual([await found(), await found(v.test)], [1, 1]);
  await assert.rejects(
    inTransaction(v.live, async (tx) => {
      const inside = { ...v.live, tx };
      await mutate(inside, async () => audited(undefined, { action: 'update', resource_type: 'route', resource_id: 'r', name: 'needle' }));
      assert.equal(await found(inside), 2);
      throw new Error('undone');
    }),
    /undone/,
  );
  assert.equal(await found(), 1);
  await write('needles');
  assert.deepEqual([await found(), await found()], [2, 2]);
  await sql().query("delete from audit_logs where tenant_id = $1 and details ->> 'name' = 'a needle'", [v.tenant.id]);
  assert.equal(await found(), 1);
});

test('an entry of either store has the country of its address, in the timeline, alone and in both exports', async () => {
  const countries = { '203.0.113.9': 'DE', '203.0.113.90': null, '2001:db8::1': 'JP', null: null } as const;
  const seen = new Set(all.filter(({ store }) => store === 'critical').map(({ ip_country }) => ip_country));
  assert.ok(seen.has('DE') && seen.has(null));
  for (const { ip_address, ip_country, id } of all.slice(0, 40)) {
    const expected = countries[`${ip_address}` as keyof typeof countries] ?? null;
    assert.equal(ip_country, expected, String(ip_address));
    assert.equal((await getAuditLog(owner, { id })).ip_country, expected);
  }
  const whole = { ...owner, plan: 'pro' as const };
  const exported = async (format: 'csv' | 'jsonl') =>
    (await textOf(await exportAuditLogs(whole, ExportAuditLogs.parse({ format, ip: '2001:db8::1' })))).trimEnd().split(/\r?\n/);
  const [head = '', ...lines] = await exported('csv');
  assert.match(head, /,ip_country$/, 'behind the columns there were');
  assert.ok(lines.length > 0 && lines.every((line) => line.endsWith(',JP')));
  assert.ok((await exported('jsonl')).every((line) => (JSON.parse(line) as Entry).ip_country === 'JP'));
});

test('what a key made is found by the key when it has long ended: it outlives the key', async () => {
  const w = await workspace();
  const owner = w.ctx('test', memberActor('owner'));
  const { id, key_id } = await made(owner, 'api_keys.create', { name: 'for an hour' });
  const actor = { ...keyActor('Key - Infrastructure'), id, key_id } as Actor;
  const client = await made(w.ctx('test', actor), 'clients.create', { name: 'left behind', ip_address: '203.0.113.7' });
  await made(owner, 'clients.create', { name: 'of somebody else', ip_address: '203.0.113.8' });
  await made(owner, 'api_keys.revoke', { id });
  assert.deepEqual(
    (await browse(owner, { actor_id: id })).map((e) => [e.action, e.resource_type, e.resource_id]),
    [['create', 'client', client.id]],
  );
});
