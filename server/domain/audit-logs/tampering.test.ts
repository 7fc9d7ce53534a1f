import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test, { describe } from 'node:test';
import { rowHash } from '#server/crypto/chain.ts';
import { type ChainHead, newSigningSeed, signHead, signingKeyOf } from '#server/crypto/chain-head.ts';
import { SEALED_COLUMNS } from '#server/crypto/chain-seal.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { acceptChain } from './baseline.ts';
import { browseCritical, exportCritical, verifyChainOf } from './chain-pages.ts';
import { appendCritical } from './critical.ts';
import { verifyAllChains } from './failures.ts';
import { write } from './planted.fixture.ts';
import type { ChainFailureKind } from './schema.ts';
import { publicKeyDocument, signCheckpoints } from './signing.ts';

await ownDatabase();

const append = (w: Workspace, details: Record<string, unknown> = {}) =>
  inTransaction(w.live, (tx) =>
    appendCritical(tx, w.live, { action: 'byok.kms.rotate', resource_type: 'tenant_master_key', resource_id: w.tenant.id, details }),
  );

async function chain(entries = 4): Promise<Workspace> {
  const w = await workspace();
  for (let i = 0; i < entries; i++) await append(w, { i });
  return w;
}

/** Rows of a workspace's chain, its head and its checkpoints, as a backup has them. */
async function copyOf(chainId: string) {
  const tables = ['audit_log_critical', 'audit_chain_heads', 'audit_checkpoints'] as const;
  const found = await Promise.all(
    tables.map((table) => sql().query<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t where chain_id = $1`, [chainId])),
  );
  return async (only: readonly string[] = tables) => {
    for (const [i, table] of tables.entries()) {
      if (!only.includes(table)) continue;
      await write(`delete from ${table} where chain_id = $1`, [chainId]);
      for (const { row } of found[i]?.rows ?? [])
        await write(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1::jsonb)`, [row]);
    }
  };
}

const lastRow = (w: Workspace) =>
  db().audit_log_critical.findFirstOrThrow({ where: { chain_id: w.tenant.id }, orderBy: { sequence_number: 'desc' } });

/** Edits the first entry and links all that follow anew. */
async function rewrite(w: Workspace, change: Record<string, unknown>) {
  const rows = await db().audit_log_critical.findMany({ where: { chain_id: w.tenant.id }, orderBy: { sequence_number: 'asc' } });
  let prev_hash: Uint8Array = new Uint8Array(32);
  for (const [i, found] of rows.entries()) {
    const row = { ...found, ...(i === 0 ? change : {}), prev_hash };
    const row_hash = rowHash(row);
    await write('update audit_log_critical set at = $2, actor_id = $3, details = $4, prev_hash = $5, row_hash = $6 where id = $1', [
      ...[row.id, row.at, row.actor_id, JSON.stringify(row.details), prev_hash, row_hash],
    ]);
    prev_hash = row_hash;
  }
}

type Form = { name: string; kind: ChainFailureKind; do: (w: Workspace) => Promise<unknown>; before?: (w: Workspace) => Promise<unknown> };
const on = (statement: string) => (w: Workspace) => write(statement, [w.tenant.id]);
const all =
  (...steps: ((w: Workspace) => Promise<unknown>)[]) =>
  async (w: Workspace) => {
    for (const step of steps) await step(w);
  };
const cut = on('delete from audit_log_critical where chain_id = $1 and sequence_number = 4');
const empty = on('delete from audit_log_critical where chain_id = $1');
const withoutHead = on('delete from audit_chain_heads where chain_id = $1');
const withoutCheckpoints = on('delete from audit_checkpoints where chain_id = $1');
const signed = () => signCheckpoints(new Date());

/** A checkpoint like ours, signed by a key of the writer's own. */
async function plant(w: Workspace, key = signingKeyOf(newSigningSeed())) {
  const row = await lastRow(w);
  const head: ChainHead = { chain_id: w.tenant.id, sequence_number: row.sequence_number, row_hash: row.row_hash, at: new Date() };
  await write(
    'insert into audit_checkpoints (id, chain_id, sequence_number, row_hash, signature, key_id, created_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [...[newId(), head.chain_id, head.sequence_number, head.row_hash, signHead(key, head), key.key_id, head.at]],
  );
  return key;
}

const FORMS: readonly Form[] = [
  { name: 'the last entry cut off, without any checkpoint', kind: 'gap', do: cut },
  {
    name: 'the last entry cut off and the head told so',
    kind: 'head_invalid',
    do: all(
      cut,
      on(`update audit_chain_heads h set sequence_number = 3, row_hash = (select row_hash from audit_log_critical where chain_id = $1 and sequence_number = 3)
        where chain_id = $1`),
    ),
  },
  {
    name: 'an entry in the middle removed',
    kind: 'gap',
    do: on('delete from audit_log_critical where chain_id = $1 and sequence_number = 2'),
  },
  { name: 'the chain emptied', kind: 'gap', do: empty },
  { name: 'the chain emptied with its head', kind: 'head_missing', do: all(empty, withoutHead) },
  {
    name: 'the chain emptied with its head and its checkpoints',
    kind: 'head_missing',
    before: signed,
    do: all(empty, withoutHead, withoutCheckpoints),
  },
  {
    name: 'the chain emptied and its head set to zero',
    kind: 'head_invalid',
    do: all(empty, on('update audit_chain_heads set sequence_number = 0 where chain_id = $1')),
  },
  { name: 'the head removed beside the entries', kind: 'head_missing', do: withoutHead },
  {
    name: 'details rewritten with right hashes and links',
    kind: 'mac_mismatch',
    do: (w) => rewrite(w, { details: { sandbox: false, i: 7 } }),
  },
  { name: 'the actor rewritten with right hashes and links', kind: 'mac_mismatch', do: (w) => rewrite(w, { actor_id: newId() }) },
  { name: 'the time rewritten with right hashes and links', kind: 'mac_mismatch', do: (w) => rewrite(w, { at: new Date(0) }) },
  ...(['ip_address', 'user_agent', 'request_id'] as const).map((column) => ({
    name: `${column}, which no hash covers, edited`,
    kind: 'mac_mismatch' as const,
    do: on(`update audit_log_critical set ${column} = '198.51.100.9' where chain_id = $1 and sequence_number = 2`),
  })),
  {
    name: 'an ID edited',
    kind: 'mac_mismatch',
    do: on('update audit_log_critical set id = gen_random_uuid() where chain_id = $1 and sequence_number = 2'),
  },
  {
    name: 'a MAC removed',
    kind: 'mac_mismatch',
    do: on('update audit_log_critical set mac = null where chain_id = $1 and sequence_number = 2'),
  },
  {
    name: 'the MACs of two entries swapped',
    kind: 'mac_mismatch',
    do: on(`update audit_log_critical r set mac = o.mac from audit_log_critical o
      where r.chain_id = $1 and o.chain_id = $1 and r.sequence_number in (1, 2) and o.sequence_number = 3 - r.sequence_number`),
  },
  {
    name: 'all entries exchanged for those of another workspace',
    kind: 'hash_mismatch',
    do: async (w) => {
      const other = await chain();
      await empty(w);
      await write('update audit_log_critical set chain_id = $1, tenant_id = $1::text::uuid where chain_id = $2', [
        w.tenant.id,
        other.tenant.id,
      ]);
    },
  },
  {
    name: 'entries and head of another workspace, hashes made anew',
    kind: 'head_invalid',
    do: async (w) => {
      const other = await chain();
      await all(empty, withoutHead)(w);
      await write('update audit_log_critical set chain_id = $1, tenant_id = $1::text::uuid where chain_id = $2', [
        w.tenant.id,
        other.tenant.id,
      ]);
      await write('update audit_chain_heads set chain_id = $1, tenant_id = $1::text::uuid where chain_id = $2', [
        w.tenant.id,
        other.tenant.id,
      ]);
      await rewrite(w, {});
    },
  },
  {
    name: 'an entry put in at the end, rightly linked',
    kind: 'mac_mismatch',
    do: async (w) => {
      const { id, seq, mac, ...last } = await lastRow(w);
      const row = { ...last, sequence_number: 5n, prev_hash: last.row_hash };
      await write(
        `insert into audit_log_critical (id, chain_id, sequence_number, prev_hash, row_hash, at, tenant_id, actor_id, action, resource_type, resource_id, details)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        [
          newId(),
          row.chain_id,
          5n,
          row.prev_hash,
          rowHash(row),
          row.at,
          row.tenant_id,
          row.actor_id,
          row.action,
          row.resource_type,
          row.resource_id,
          JSON.stringify(row.details),
        ],
      );
      assert.ok(id && seq && mac);
    },
  },
  {
    name: 'an entry in the lists of the workspace that is of no chain',
    kind: 'foreign_entry',
    do: (w) =>
      write(
        `insert into audit_log_critical select (jsonb_populate_record(null::audit_log_critical, to_jsonb(r) || jsonb_build_object('id', gen_random_uuid(), 'seq', r.seq + 1000000, 'chain_id', 'x-' || $1))).*
         from audit_log_critical r where chain_id = $1 and sequence_number = 2`,
        [w.tenant.id],
      ),
  },
  {
    name: 'an entry twice, the index dropped',
    kind: 'gap',
    do: async (w) => {
      await write('drop index if exists audit_log_critical_chain_id_sequence_number_key');
      await write(
        `insert into audit_log_critical select (jsonb_populate_record(null::audit_log_critical, to_jsonb(r) || jsonb_build_object('id', gen_random_uuid(), 'seq', r.seq + 2000000))).*
         from audit_log_critical r where chain_id = $1 and sequence_number = 2`,
        [w.tenant.id],
      );
    },
  },
  {
    name: 'an entry before the first',
    kind: 'gap',
    do: on(`insert into audit_log_critical select (jsonb_populate_record(null::audit_log_critical, to_jsonb(r) || jsonb_build_object('id', gen_random_uuid(), 'seq', r.seq + 3000000, 'sequence_number', -1))).*
      from audit_log_critical r where chain_id = $1 and sequence_number = 2`),
  },
  { name: 'a checkpoint planted', kind: 'checkpoint_invalid', do: (w) => plant(w) },
  {
    name: 'a checkpoint exchanged for one of a planted key',
    kind: 'checkpoint_invalid',
    before: signed,
    do: async (w) => {
      await withoutCheckpoints(w);
      const key = await plant(w);
      await write(
        `update deployment_values set value = value || jsonb_build_object('keys', jsonb_build_array(jsonb_build_object('kid', $1::text, 'x', $2::text))) where name = 'audit_keys'`,
        [key.key_id, key.x],
      );
    },
  },
  { name: 'a checkpoint removed', kind: 'checkpoint_missing', before: signed, do: withoutCheckpoints },
  {
    name: 'a checkpoint twice',
    kind: 'checkpoint_invalid',
    before: signed,
    do: on(
      `insert into audit_checkpoints select gen_random_uuid(), chain_id, sequence_number, row_hash, signature, key_id, created_at from audit_checkpoints where chain_id = $1`,
    ),
  },
  {
    name: 'the signed hash of a checkpoint edited',
    kind: 'checkpoint_invalid',
    before: signed,
    do: on(`update audit_checkpoints set row_hash = sha256('x') where chain_id = $1`),
  },
  {
    name: 'an older head put back with the entries of its time',
    kind: 'rolled_back',
    do: async (w) => {
      const restore = await copyOf(w.tenant.id);
      await append(w);
      await verifyChainOf(w.live, {});
      await restore();
    },
  },
  {
    name: 'an older head put back under a later checkpoint, told to a process that never saw the newer one',
    kind: 'checkpoint_invalid',
    do: async (w) => {
      const restore = await copyOf(w.tenant.id);
      await append(w);
      await signed();
      await restore(['audit_log_critical', 'audit_chain_heads']);
      processState('audit-heads', () => new Map()).clear();
    },
  },
];

describe('whoever writes to the database changes no chain unnoticed, and nothing is signed on top', () => {
  for (const form of FORMS)
    test(form.name, async () => {
      const w = await chain();
      await form.before?.(w);
      assert.equal((await verifyChainOf(w.live, {})).valid, true, 'the chain holds before');
      await form.do(w);
      assert.equal((await verifyChainOf(w.live, {})).failure?.kind, form.kind);
      await notSigned(w);
      const [found] = (await verifyAllChains()).failed.filter(({ chain_id }) => chain_id === w.tenant.id);
      assert.equal(found?.failure?.kind, form.kind);
      await restoreIndex(w);

      // The chain goes on, and keeps the failure until an operator accepts it.
      await append(w, { after: true });
      assert.equal((await verifyChainOf(w.live, {})).failure?.kind, form.kind);
      assert.equal((await browseCritical(w.live, { limit: 1 })).failure?.kind, form.kind);
      await notSigned(w);
      if (form.kind === 'foreign_entry') {
        await assert.rejects(acceptChain(w.live, { reason: 'x' }), { type: 'conflict' });
        await write('delete from audit_log_critical where tenant_id = $1::text::uuid and chain_id <> $1', [w.tenant.id]);
      }
      const { accepted, valid, baseline } = await acceptChain(w.live, { reason: 'restored by hand' });
      assert.deepEqual(
        [accepted?.kind, valid, baseline?.action, baseline?.reason],
        [form.kind, true, 'audit_chain.accept', 'restored by hand'],
      );
      await append(w);
      await signed();
      assert.equal((await verifyChainOf(w.live, {})).valid, true);
      assert.equal(await db().audit_checkpoints.count({ where: { chain_id: w.tenant.id } }), 1);
    });
});

/** The index that a form dropped; its second row goes, as an operator would have it. */
async function restoreIndex(w: Workspace) {
  await write('delete from audit_log_critical where chain_id = $1 and seq > 1000000 and sequence_number <> -1 and seq > 2000000', [
    w.tenant.id,
  ]);
  await write(
    'create unique index if not exists audit_log_critical_chain_id_sequence_number_key on audit_log_critical (chain_id, sequence_number)',
  );
}

async function notSigned(w: Workspace) {
  const before = await db().audit_checkpoints.count({ where: { chain_id: w.tenant.id } });
  await signed();
  assert.equal(await db().audit_checkpoints.count({ where: { chain_id: w.tenant.id } }), before);
  const lines = (await textOf(await exportCritical(w.live))).trimEnd().split('\n');
  const trailer = JSON.parse(lines.at(-1) ?? '') as { signature: string | null; failure: { kind: string } };
  assert.equal(trailer.signature, null);
  assert.ok(trailer.failure.kind);
}

test('a failure that is kept can be erased by no older or edited head', async () => {
  const w = await chain();
  const whole = await copyOf(w.tenant.id);
  await cut(w);
  await verifyAllChains();
  await whole(['audit_log_critical']);
  assert.equal((await verifyChainOf(w.live, {})).failure?.kind, 'gap', 'the entry is back, the failure stays');
  await write('update audit_chain_heads set failure = null, failed_sequence = null, failed_at = null where chain_id = $1', [w.tenant.id]);
  assert.equal((await verifyChainOf(w.live, {})).failure?.kind, 'head_invalid');
  await whole(['audit_chain_heads']);
  assert.equal((await verifyChainOf(w.live, {})).failure?.kind, 'rolled_back');
});

test('a chain that holds can not be accepted', async () => {
  const w = await chain(1);
  await assert.rejects(acceptChain(w.live, { reason: 'x' }), { type: 'conflict' });
});

test('what an operator accepted is sealed as it was then: a later edit of it shows', async () => {
  const w = await chain();
  await cut(w);
  await acceptChain(w.live, { reason: 'x' });
  await write(`update audit_log_critical set user_agent = 'edited' where chain_id = $1 and sequence_number = 1`, [w.tenant.id]);
  assert.equal((await verifyChainOf(w.live, {})).failure?.kind, 'history_mismatch');
});

describe('whoever writes to the database publishes no key, and their keys sign nothing', () => {
  const forget = () => {
    delete processState('audit-keys', (): { keys?: unknown } => ({})).keys;
  };
  const rowOfKeys = () => db().deployment_values.findUniqueOrThrow({ where: { name: 'audit_keys' } });

  test('a key in a column is not published', async () => {
    const before = await publicKeyDocument();
    const { publicKey } = generateKeyPairSync('ed25519');
    const { x = '' } = publicKey.export({ format: 'jwk' });
    await write(
      `update deployment_values set value = value || jsonb_build_object('keys', jsonb_build_array(jsonb_build_object('kid', 'planted', 'x', $1::text))) where name = 'audit_keys'`,
      [x],
    );
    forget();
    assert.deepEqual(await publicKeyDocument(), before);
  });

  for (const [name, statement] of Object.entries({
    'another root key’s ID': `update deployment_values set value = jsonb_set(value, '{root_key_id}', '"00000000"') where name = 'audit_keys'`,
    'other sealed bytes': `update deployment_values set sealed = decode(repeat('00', 80), 'hex') where name = 'audit_keys'`,
    'nothing sealed': `update deployment_values set sealed = null where name = 'audit_keys'`,
    'the whole row gone': `delete from deployment_values where name = 'audit_keys'`,
  }))
    test(`${name}: every chain fails, nothing is signed or published, and entries go on`, async () => {
      const w = await chain();
      const kept = await rowOfKeys();
      await write(statement);
      forget();
      assert.equal((await verifyChainOf(w.live, {})).failure?.kind, 'keys_missing');
      assert.equal((await browseCritical(w.live, { limit: 1 })).failure?.kind, 'keys_missing');
      await assert.rejects(publicKeyDocument(), { type: 'dependency_unavailable' });
      await notSigned(w);
      await append(w);
      assert.ok((await verifyAllChains()).failed.some(({ chain_id }) => chain_id === w.tenant.id));
      // Put back, what was written meanwhile lacks its MAC.
      await write(`delete from deployment_values where name = 'audit_keys'`);
      await write('insert into deployment_values (name, value, sealed) values ($1, $2, $3)', [
        kept.name,
        JSON.stringify(kept.value),
        kept.sealed,
      ]);
      forget();
      assert.equal((await verifyChainOf(w.live, {})).failure?.kind, 'mac_mismatch');
      assert.equal((await acceptChain(w.live, { reason: 'x' })).valid, true);
    });

  test('an operator who lost the keys goes on with new ones, chain by chain', async () => {
    const [w, other] = [await chain(), await chain()];
    const before = await publicKeyDocument();
    await write(`delete from deployment_values where name = 'audit_keys'`);
    forget();
    assert.equal((await acceptChain(w.live, { reason: 'lost' })).valid, true);
    assert.notDeepEqual(await publicKeyDocument(), before, 'the published key says that it is another');
    assert.equal((await verifyChainOf(other.live, {})).failure?.kind, 'head_invalid');
    assert.equal((await acceptChain(other.live, { reason: 'lost' })).valid, true);
  });
});

test('every column of an entry and of a head is sealed, but for those that place an entry in feeds', async () => {
  const { rows } = await sql().query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns where table_schema = 'public' and table_name in ('audit_log_critical', 'audit_chain_heads')`,
  );
  const of = (table: string) => rows.filter(({ table_name }) => table_name === table).map(({ column_name }) => column_name);
  assert.deepEqual(of('audit_log_critical').sort(), [...SEALED_COLUMNS, 'mac', 'seq', 'txid'].sort());
  // tenant_id only names whose row it is under row-level security; the chain's ID is sealed.
  const sealed = [
    'chain_id',
    'sequence_number',
    'row_hash',
    'epoch',
    'baseline',
    'checkpoints',
    'failure',
    'failed_sequence',
    'failed_at',
    'reported',
  ];
  assert.deepEqual(of('audit_chain_heads').sort(), [...sealed, 'mac', 'tenant_id'].sort());
});
