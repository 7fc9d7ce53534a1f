import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as operations from './operations.ts';

await testDatabase();

const CANARY = 'cAnArY-7f3e9b';

/** How the gate of reveals refuses callers who have confirmed nothing. */
const GATE = ['not_authenticated', 'mfa_required', 'reveal_role_denied', 'invalid'];

/** What a caller gets, refusals and warnings included, as one text. */
async function answerOf(op: AnyOperation, ctx: Ctx, raw: unknown): Promise<string> {
  try {
    const { output, result } = await perform(op, ctx, raw);
    return JSON.stringify([output, op.list ? 'list' : result === undefined, ctx.warnings]);
  } catch (error) {
    const refusal = asRefusal(error);
    assert.notEqual(refusal.type, 'internal_error', `${op.id}: ${String((refusal.cause as Error)?.message)}`);
    assert.ok(
      ['validation_error', 'role_denied', 'forbidden', ...(op.kind === 'reveal' ? GATE : []), ...op.refuses].includes(refusal.type),
      `${op.id} refuses with undeclared ${refusal.type}`,
    );
    return JSON.stringify([refusal.type, refusal.message, refusal.extra, ctx.warnings]);
  }
}

test('no operation, refusal, warning or audit entry ever shows a value, not even its length', async () => {
  const w = await workspace();
  const owner = () => ({ ...w.member('owner'), warnings: [] });
  const { output } = await perform(operations.create, w.live, { name: 'planted', value: `${CANARY}-1` });
  const { id } = output;
  const inputs: Record<string, unknown>[] = [
    { id },
    { id, env: 'production' },
    { id, env: CANARY },
    { id, value: `${CANARY}-2` },
    { id, value: `${CANARY}-3`, if_match: '"1"' },
    { id, value: CANARY, environment: 'nowhere' },
    { id, value: `${CANARY}\u0000` },
    { id, value: CANARY.repeat(9_000) },
    { id, value: { [CANARY]: CANARY } },
    { id, name: 'planted', value: CANARY },
    { id, name: 'planted', value: CANARY, client_secret: CANARY },
    { id, name: 'planted', value: CANARY, secret_type: 'oauth2' },
    { id, name: 'fresh', value: CANARY, allowed_hosts: ['not a host'] },
    { id, env: 'production', expires_at_override: null },
    { id, content: `PLANTED=${CANARY}\nNEW_ONE=${CANARY}\n${CANARY}\nOPEN="${CANARY}\nNUL=${CANARY}\u0000`, dry_run: true },
    { id, content: `PLANTED=${CANARY}\nNEW_ONE=${CANARY}\n${CANARY}\nOPEN="${CANARY}`, dry_run: false },
    {},
  ];
  const ofWorkspace = Object.values(operations).filter((op) => op.needs !== 'session');
  const order = ofWorkspace.filter((op) => !op.http.startsWith('DELETE '));
  const ends = ofWorkspace.filter((op) => op.http.startsWith('DELETE '));
  for (const op of [...order, ...ends] as AnyOperation[]) {
    for (const raw of inputs) {
      for (const ctx of [w.ctx('live'), owner(), w.ctx('test'), w.member('viewer')]) {
        const answer = await answerOf(op, ctx, raw);
        assert.ok(!answer.includes(CANARY), `${op.id} with ${Object.keys(raw)} answers ${answer.slice(0, 300)}`);
        assert.doesNotMatch(answer, /"(value|value_ct|cek_wrapped|length|hash|digest)"/, op.id);
      }
    }
  }
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id } });
  assert.ok(entries.length > 5);
  const audit = JSON.stringify(entries, (_, v) => (typeof v === 'bigint' ? String(v) : v));
  assert.ok(!audit.includes(CANARY), 'the audit log repeats a value');
});

test('nothing stored reads as the value without the key', async () => {
  const w = await workspace();
  await perform(operations.create, w.live, { name: 'sealed', value: CANARY });
  const dump = await db().$queryRawUnsafe<{ t: string }[]>(`
    select string_agg(x::text, ' ') as t from (
      select to_jsonb(s) as x from secrets s union all select to_jsonb(e) from secret_environments e union all select to_jsonb(v) from secret_values v
    ) all_rows`);
  const text = dump[0]?.t ?? '';
  for (const form of [CANARY, Buffer.from(CANARY).toString('hex'), Buffer.from(CANARY).toString('base64')]) assert.ok(!text.includes(form));
  assert.match(text, /sealed/);
});

test('answers carry exactly the documented fields', async () => {
  const w = await workspace();
  const { output } = await perform(operations.create, w.live, { name: 'shape', value: 'v', expires_at: '2030-01-02T03:04:05+01:00' });
  assert.deepEqual(Object.keys(output).sort(), [
    'base_environment',
    'collection_id',
    'environment_count',
    'expires_at',
    'id',
    'name',
    'secret_type',
    'shortcode_name',
    'strict_expiry_enforcement',
  ]);
  assert.equal(output.expires_at, '2030-01-02T02:04:05.000Z');
  const updated = await perform(operations.update, w.live, { id: output.id, strict_expiry_enforcement: true });
  assert.deepEqual(Object.keys(updated.output).sort(), ['expires_at', 'id', 'name', 'strict_expiry_enforcement']);
  const detail = await perform(operations.get, w.live, { id: output.id });
  assert.deepEqual(Object.keys(detail.output.environments[0] ?? {}).sort(), [
    'certificate',
    'connection_error',
    'connection_status',
    'environment_name',
    'expires_at_override',
    'token_expires_at',
    'updated_at',
    'value_version',
  ]);
});

test('wrong fields are refused before anything happens', async () => {
  const w = await workspace();
  const { output } = await perform(operations.create, w.live, { name: 'kept', value: 'v' });
  for (const [op, raw] of [
    [operations.update, { id: output.id }],
    [operations.update, { id: output.id, unknown: 1 }],
    [operations.update, { id: output.id, strict_expiry_enforcement: 'true' }],
    [operations.update, { id: output.id, expires_at: '2030-02-30T00:00:00Z' }],
    [operations.update, { id: output.id, expires_at: '2030-01-01' }],
    [operations.update, { id: output.id, name: null }],
    [operations.update, { id: output.id, tags: ['-bad'] }],
    [operations.update, { id: output.id, tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }],
    [operations.create, { name: '.hidden', value: 'v' }],
    [operations.create, { name: 'x'.repeat(129), value: 'v' }],
    [operations.create, { name: ' ', value: 'v' }],
    [operations.create, { name: 'a/b', value: 'v' }],
    [operations.create, { name: 'n', value: 7 }],
    [operations.list, { sort: 'value' }],
    [operations.list, { expiring_within_days: '0' }],
  ] as [AnyOperation, unknown][])
    await assert.rejects(perform(op, w.live, raw), { type: 'validation_error' }, JSON.stringify(raw));
  for (const id of ['not-a-uuid', '', crypto.randomUUID()])
    await assert.rejects(perform(operations.get, w.live, { id }), { type: 'not_found' });
});
