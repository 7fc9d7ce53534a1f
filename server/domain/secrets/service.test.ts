import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import * as environments from '#server/domain/environments/service.ts';
import { forgetRules } from '#server/domain/policies/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { confirmedOwner, verified } from '#server/testing/step-up.ts';
import { memberActor, workspace } from '#server/testing/workspace.ts';
import { CreateSecret } from './create.schema.ts';
import * as values from './environment-values.ts';
import { importEnv } from './import-env.ts';
import { ImportEnv, ListSecrets, PutValue, RestoreValue, UpdateSecret } from './schema.ts';
import * as secrets from './service.ts';
import { secretUsage } from './usage.ts';

await testDatabase();

const create = (ctx: Ctx, input: Record<string, unknown>) => secrets.createSecret(ctx, CreateSecret.parse({ value: 'v', ...input }));
const put = (ctx: Ctx, input: Record<string, unknown>) => secrets.putValue(ctx, PutValue.parse(input));
const update = (ctx: Ctx, input: Record<string, unknown>) => secrets.updateSecret(ctx, UpdateSecret.parse(input));
const list = (ctx: Ctx, input: Record<string, unknown> = {}) => secrets.listSecrets(ctx, ListSecrets.parse(input));

/** The plaintext the gateway would inject. */
async function opened(ctx: Ctx, secretId: string, environment = 'production'): Promise<string> {
  const row = await db().secret_environments.findUniqueOrThrow({
    where: { secret_id_environment_name: { secret_id: secretId, environment_name: environment } },
  });
  const value = await db().secret_values.findUniqueOrThrow({ where: { id: row.current_value_id as string } });
  const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'secret_value', row_id: value.id } as const;
  return (
    await keyring().openValue(place, {
      value_ct: value.value_ct as Uint8Array,
      cek_wrapped: value.cek_wrapped as Uint8Array,
      tmk_version: value.tmk_version,
    })
  ).toString('utf8');
}

const allValues = (secretId: string) =>
  db().secret_values.findMany({ where: { environment: { secret_id: secretId } }, orderBy: { value_version: 'asc' } });

test('a name is stored with underscores for white space and its case, and is unique without regard to case', async () => {
  const w = await workspace();
  const row = await create(w.live, { name: '  Stripe  API\tKey ' });
  assert.deepEqual(
    [row.name, row.shortcode_name, row.base_environment, row.environment_count],
    ['Stripe_API_Key', 'Stripe_API_Key', 'production', 1],
  );
  await assert.rejects(create(w.live, { name: 'stripe_api_key' }), { type: 'conflict' });
  await create(w.test, { name: 'stripe_api_key' });
  await secrets.deleteSecret(w.live, { id: row.id });
  await create(w.live, { name: 'STRIPE_API_KEY' });
});

test('any value comes back byte for byte from storage or is refused on entry', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'naughty' });
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(' x ', '\r\n', '\uFEFF', '{{secret:x}}', '\ud800', 'a\u0000b', "'; drop table secrets; --"),
  );
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const input = PutValue.safeParse({ id, value });
      if (!input.success) return assert.ok(value === '' || value.includes('\u0000') || !value.isWellFormed(), JSON.stringify(value));
      await secrets.putValue(w.live, input.data);
      assert.equal(await opened(w.live, id), value);
    }),
    { numRuns: 60 },
  );
});

test('the size of a value is counted in bytes of UTF-8', async () => {
  assert.ok(PutValue.safeParse({ id: 'x', value: 'é'.repeat(32_768) }).success);
  for (const value of ['é'.repeat(32_769), 'x'.repeat(65_537), '']) assert.equal(PutValue.safeParse({ id: 'x', value }).success, false);
});

test('two writes at once produce the next two versions, each once, and only the last value stays current', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'busy' });
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => put(w.ctx('live'), { id, value: `v${i}` })));
  assert.deepEqual(
    answers.map((a) => a.value_version).sort((a, b) => a - b),
    [2, 3, 4, 5, 6, 7, 8, 9],
  );
  const last = answers.findIndex((a) => a.value_version === 9);
  assert.equal(await opened(w.live, id), `v${last}`);
  assert.deepEqual(
    (await allValues(id)).map((v) => v.superseded_at === null),
    [false, false, false, false, false, false, false, false, true],
  );
});

test('the first writes of an environment at once are versions 1 and 2', async () => {
  const w = await workspace();
  await environments.createEnvironment(w.live, { name: 'staging' });
  const { id } = await create(w.live, { name: 'fresh' });
  const answers = await Promise.all(['a', 'b'].map((value) => put(w.ctx('live'), { id, value, environment: 'staging' })));
  assert.deepEqual(answers.map((a) => a.value_version).sort(), [1, 2]);
});

test('equal bytes still make a new version; If-Match holds a write back when the version moved', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'matched' });
  assert.equal((await put(w.live, { id, value: 'v' })).value_version, 2);
  assert.equal((await put(w.live, { id, value: 'v', if_match: '"2"' })).value_version, 3);
  for (const if_match of ['"2"', '4', '"0"']) await assert.rejects(put(w.live, { id, value: 'late', if_match }), { type: 'conflict' });
  for (const if_match of ['W/"3"', 'x', ''])
    await assert.rejects(made(w.live, 'secrets.put_value', { id, value: 'v', if_match }), {
      message: /^If-Match: must be a value_version/,
    });
  assert.equal((await put(w.live, { id, value: 'v', if_match: '*' })).value_version, 4);
  await environments.createEnvironment(w.live, { name: 'staging' });
  await assert.rejects(put(w.live, { id, value: 'v', environment: 'staging', if_match: '*' }), { type: 'conflict' });
  const raced = await Promise.allSettled([1, 2, 3].map(() => put(w.ctx('live'), { id, value: 'r', if_match: '"4"' })));
  assert.equal(raced.filter((r) => r.status === 'fulfilled').length, 1);
});

test('machines must send a value; a person may leave it for later, and the first write sets the base environment', async () => {
  const w = await workspace();
  await assert.rejects(made(w.live, 'secrets.create', { name: 'empty' }), { type: 'validation_error', message: 'value: is required' });
  const row = await secrets.createSecret(w.member('editor'), CreateSecret.parse({ name: 'empty' }));
  assert.deepEqual([row.base_environment, row.environment_count], [null, 0]);
  await environments.createEnvironment(w.live, { name: 'staging' });
  await put(w.live, { id: row.id, value: 'v', environment: 'staging' });
  assert.equal((await secrets.getSecret(w.live, row)).base_environment, 'staging');
});

test('a value for one environment never lands in another because its field was misnamed', () => {
  for (const field of ['environment_name', 'environment_id', 'base_environment', 'env'])
    for (const schema of [CreateSecret, PutValue, RestoreValue, ImportEnv])
      assert.match(
        schema.safeParse({ id: newId(), name: 'x', value: 'v', content: 'A=v', [field]: 'staging' }).error?.issues[0]?.message ?? '',
        /use environment/,
      );
});

test('material that belongs to another type is refused with a sentence that says so', () => {
  for (const secret_type of ['oauth2', 'oauth2_token', 'certificate'])
    assert.match(CreateSecret.safeParse({ name: 'x', value: 'v', secret_type }).error?.issues[0]?.message ?? '', /another secret type/);
  for (const field of ['client_secret', 'password', 'private_key', 'certificate_content', 'access_token', 'refresh_token'])
    assert.match(
      CreateSecret.safeParse({ name: 'x', value: 'v', [field]: 'material' }).error?.issues[0]?.message ?? '',
      /another secret type/,
    );
  const id = newId();
  for (const body of [{ value: 'new' }, { name: 'x', value: 'new' }, { name: 'x', value: null }])
    assert.match(UpdateSecret.safeParse({ id, ...body }).error?.issues[0]?.message ?? '', /PUT \/secrets\/\{id\}\/value/);
  for (const schema of [UpdateSecret, PutValue])
    assert.match(
      schema.safeParse({ id, name: 'x', value: schema === PutValue ? 'v' : undefined, client_secret: 's' }).error?.issues[0]?.message ?? '',
      /another secret type/,
    );
  for (const secret_type of ['api_key', 'basic_auth', 'custom', 'static'])
    assert.equal(CreateSecret.parse({ name: 'x', value: 'v', secret_type }).secret_type, 'string');
  assert.equal(CreateSecret.safeParse({ name: 'x', value: 'v', secret_type: 'ssh' }).success, false);
});

test('unknown environments and collections are refused: 400 on create, 404 on a value', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  await assert.rejects(create(w.live, { name: 'a', environment: 'nowhere' }), { type: 'validation_error' });
  const foreign = await db().collections.create({
    data: { id: newId(), tenant_id: other.tenant.id, sandbox: false, name: 'c', slug: 'c' },
  });
  await assert.rejects(create(w.live, { name: 'a', collection_id: foreign.id }), { type: 'validation_error' });
  const row = await create(w.live, { name: 'a' });
  await assert.rejects(update(w.live, { id: row.id, collection_id: foreign.id }), { type: 'validation_error' });
  await assert.rejects(put(w.live, { id: row.id, value: 'v', environment: 'nowhere' }), { type: 'not_found' });
});

test('a secret of the other space or of another workspace does not exist', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const { id } = await create(w.live, { name: 'mine' });
  for (const ctx of [w.test, other.live, { ...other.member('owner') }]) {
    const admin = { ...ctx, actor: w.member('owner').actor };
    for (const attempt of [
      () => secrets.getSecret(ctx, { id }),
      () => update(ctx, { id, name: 'x' }),
      () => put(ctx, { id, value: 'v' }),
      () => secrets.deleteSecret(ctx, { id }),
      () => secretUsage(ctx, { id }),
      () => values.removeValue(ctx, { id, env: 'production' }),
      () => values.updateSecretEnvironment(ctx, { id, env: 'production', expires_at_override: null }),
      () => values.restoreValue(admin, { id }),
    ])
      await assert.rejects(attempt(), { type: 'not_found' });
  }
  assert.equal(await opened(w.live, id), 'v');
});

test('a value sealed in one space does not open in the other', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'bound' });
  await assert.rejects(opened(w.test, id));
});

test('a rename keeps references by id and warns of those by name', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'old' });
  const route = await aRoute(w.live);
  const reference = {
    tenant_id: w.tenant.id,
    sandbox: false,
    secret_id: id,
    kind: 'route_environment',
    referrer_id: route.id,
    referrer_env: 'production',
    field_path: 'inject_headers_json.authorization',
  };
  await db().secret_references.createMany({
    data: [
      { ...reference, id: newId(), by: 'id' },
      { ...reference, id: newId(), by: 'name' },
    ],
  });
  const ctx = w.ctx('live');
  await update(ctx, { id, name: 'new' });
  assert.equal(ctx.warnings.length, 1);
  assert.match(ctx.warnings[0] as string, /\{\{secret:old\}\} no longer resolves but is still used by route environment payments/);
  assert.deepEqual((await secretUsage(ctx, { id })).references.map((r) => [r.name, r.environment, r.by]).sort(), [
    ['payments', 'production', 'id'],
    ['payments', 'production', 'name'],
  ]);
  await create(w.live, { name: 'old' });
  await assert.rejects(update(ctx, { id, name: 'OLD' }), { type: 'conflict' });
});

test('what names a secret in a column of its own is in its usage, and keeps it from being deleted', async () => {
  const w = await workspace();
  const at = { tenant_id: w.tenant.id, sandbox: false };
  const [key, guard, token, rule, existing, free] = await Promise.all(
    ['KEY', 'GUARD', 'TOKEN', 'RULE', 'EXISTING', 'FREE'].map(async (name) => (await create(w.live, { name, value: 'v' })).id),
  );
  const gateway_id = newId();
  await db().ai_gateways.create({ data: { ...at, id: gateway_id, name: 'G', slug: 'g' } as never });
  const agent = { ...at, gateway_id, name: 'Support', slug: 'support', upstream_secret_ids: [key], guardrail_webhook_secret_id: guard };
  await db().ai_agents.create({ data: { ...agent, id: newId() } as never });
  await db().ai_agents.create({
    data: {
      ...agent,
      id: newId(),
      slug: 'old',
      upstream_secret_ids: [free],
      guardrail_webhook_secret_id: null,
      status: 'archived',
    } as never,
  });
  await db().wrap_tokens.create({
    data: {
      ...at,
      id: newId(),
      secret_id: token,
      token_hash: Buffer.from(newId()),
      host: 'api.example.com',
      label: 'ci',
      style: 'path',
    } as never,
  });
  const migration_id = newId();
  await db().secret_migrations.create({ data: { ...at, id: migration_id, provider: 'hashicorp_vault', mode: 'pull' } as never });
  await db().migration_intercept_rules.create({
    data: {
      ...at,
      id: newId(),
      migration_id,
      match_host: 'vault.example',
      match_secret_ref: 'x',
      committed_secret_id: rule,
      response_format: 'raw',
    } as never,
  });
  await db().secret_migration_items.create({
    data: {
      ...at,
      id: newId(),
      migration_id,
      source_ref: 'a',
      source_name: 'kv/a',
      status: 'approved',
      target: { existing_secret_id: existing, environment: 'staging' },
    } as never,
  });
  const kinds = async (id: string | undefined) =>
    (await secretUsage(w.live, { id: String(id) })).references.map((r) => [r.kind, r.name, r.field, r.environment]);
  assert.deepEqual(await kinds(key), [['ai_agent', 'Support', 'upstream_secret_ids', null]]);
  assert.deepEqual(await kinds(guard), [['ai_agent', 'Support', 'guardrail_webhook_secret_id', null]]);
  assert.deepEqual(await kinds(token), [['wrap_token', 'ci', 'secret_id', null]]);
  assert.deepEqual(await kinds(rule), [['intercept_rule', 'vault.example', 'committed_secret_id', null]]);
  assert.deepEqual(await kinds(existing), [['migration', 'kv/a', 'existing_secret_id', 'staging']]);
  for (const id of [key, guard, token, rule, existing])
    await assert.rejects(secrets.deleteSecret(w.live, { id: String(id) }), { type: 'in_use' });
  const count = async (id: string | undefined) => (await secrets.getSecret(w.live, { id: String(id) })).reference_count;
  assert.deepEqual(await Promise.all([key, guard, token, rule, existing, free].map(count)), [1, 1, 1, 1, 1, 0]);
  await secrets.deleteSecret(w.live, { id: String(free) });
});

test('a secret in use is not deleted; an unused one is, and its values are wiped', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'used' });
  const collection = await db().collections.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'shop', slug: 'shop' },
  });
  const variable = await db().collection_variables.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: false,
      collection_id: collection.id,
      key: 'token',
      type: 'secret',
      secret_id: id,
    },
  });
  await assert.rejects(secrets.deleteSecret(w.live, { id }), { type: 'in_use', message: /collection variable shop\.token/ });
  await db().collection_variables.delete({ where: { id: variable.id } });
  const before = await allValues(id);
  assert.deepEqual(await secrets.deleteSecret(w.live, { id }), { deleted: true });
  assert.equal(await db().secret_values.count({ where: { id: { in: before.map((v) => v.id) } } }), 0);
  await assert.rejects(secrets.getSecret(w.live, { id }), { type: 'not_found' });
});

test('the value of one environment is removed and wiped, the base one last', async () => {
  const w = await workspace();
  await environments.createEnvironment(w.live, { name: 'staging' });
  const { id } = await create(w.live, { name: 'two' });
  await put(w.live, { id, value: 's', environment: 'staging' });
  await assert.rejects(values.removeValue(w.live, { id, env: 'production' }), { type: 'conflict' });
  await assert.rejects(values.removeValue(w.live, { id, env: 'nowhere' }), { type: 'not_found' });
  await values.removeValue(w.live, { id, env: 'staging' });
  await values.removeValue(w.live, { id, env: 'production' });
  const row = await secrets.getSecret(w.live, { id });
  assert.deepEqual([row.base_environment, row.environment_count, (await allValues(id)).length], [null, 0, 0]);
});

test('Owner and Admin put the previous value back as a new version, within 24 hours', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'restorable', value: 'first' });
  await assert.rejects(values.restoreValue(w.member('admin'), { id }), { type: 'conflict' });
  await put(w.live, { id, value: 'second' });
  for (const ctx of [w.member('editor'), w.live]) await assert.rejects(values.restoreValue(ctx, { id }), { type: 'role_denied' });
  assert.equal((await values.restoreValue(w.member('admin'), { id })).value_version, 3);
  assert.equal(await opened(w.live, id), 'first');
  assert.equal((await values.restoreValue(w.member('owner'), { id })).value_version, 4);
  assert.equal(await opened(w.live, id), 'second');
  const late = { ...w.member('owner'), now: new Date(Date.now() + 25 * 3_600_000) };
  await assert.rejects(values.restoreValue(late, { id }), { type: 'conflict' });
});

test('what was superseded 24 hours ago is wiped, what is current or younger is kept', async () => {
  const w = await workspace();
  const day = 24 * 3_600_000;
  const { id } = await create({ ...w.live, now: new Date(Date.now() - 3 * day) }, { name: 'wiped', value: 'one' });
  await secrets.putValue({ ...w.live, now: new Date(Date.now() - 2 * day) }, PutValue.parse({ id, value: 'two' }));
  await secrets.putValue(w.live, PutValue.parse({ id, value: 'three' }));
  assert.ok((await secrets.wipeSuperseded(db(), new Date(), 1)) >= 1);
  assert.deepEqual(
    (await allValues(id)).map((v) => [v.value_ct === null, v.cek_wrapped === null, v.wiped_at !== null]),
    [
      [true, true, true],
      [false, false, false],
      [false, false, false],
    ],
  );
  assert.equal(await secrets.wipeSuperseded(db(), new Date()), 0);
  assert.equal(await opened(w.live, id), 'three');
});

test('expiry has one effective date: an override stands in for the secret, and the list finds both', async () => {
  const w = await workspace();
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const late = new Date(Date.now() + 300 * 86_400_000);
  await create(w.live, { name: 'soon', expires_at: soon });
  const overridden = await create(w.live, { name: 'overridden', expires_at: soon });
  await values.updateSecretEnvironment(w.live, { id: overridden.id, env: 'production', expires_at_override: late });
  const early = await create(w.live, { name: 'early' });
  await values.updateSecretEnvironment(w.live, { id: early.id, env: 'production', expires_at_override: new Date(soon) });
  await create(w.live, { name: 'never' });
  assert.deepEqual(
    (await list(w.live, { expiring_within_days: '30' })).rows.map((r) => r.name),
    ['early', 'soon'],
  );
  assert.equal((await update(w.live, { id: early.id, expires_at: null })).expires_at, null);
  assert.equal((await secrets.getSecret(w.live, early)).environments[0]?.expires_at_override?.toISOString(), soon);
});

test('the list filters by text, tag, type and collection, treats % and _ as letters, and counts truly', async () => {
  const w = await workspace();
  for (const [name, tags] of [
    ['a_b', ['Pay']],
    ['aXb', ['pay', 'PAY']],
    ['c', []],
  ] as const)
    await create(w.live, { name, tags });
  const names = async (query: Record<string, unknown>) => {
    const page = await list(w.live, query);
    assert.equal(page.total, page.rows.length);
    return page.rows.map((r) => r.name).join();
  };
  assert.equal(await names({ q: 'a_b' }), 'a_b');
  assert.equal(await names({ q: 'A b' }), 'a_b');
  assert.equal(await names({ q: '%' }), '');
  assert.equal(await names({ tag: 'pay' }), 'aXb');
  assert.equal(await names({ secret_type: 'certificate' }), '');
  assert.equal((await list(w.live, { sort: 'created_at', order: 'desc', per_page: 1 })).rows[0]?.name, 'c');
  assert.equal((await list(w.live, {})).total, 3);
  const [row] = (await list(w.live, { q: 'c' })).rows;
  assert.deepEqual([row?.environment_count, row?.environment_names, row?.escrow, row?.shared], [1, ['production'], false, null]);
});

test('a rotation reminder is due counted from the oldest current value', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'reminded', rotate_every_days: 90 });
  const [value] = await allValues(id);
  assert.equal((await secrets.getSecret(w.live, { id })).rotation_due_at?.getTime(), (value?.created_at.getTime() ?? 0) + 90 * 86_400_000);
});

test('host pins are stored in one spelling and refused when they pin nothing', async () => {
  const w = await workspace();
  const row = await create(w.live, { name: 'pinned', allowed_hosts: ['API.example.com.', 'api.example.com', '*.Example.org'] });
  assert.deepEqual((await secrets.getSecret(w.live, row)).allowed_hosts, ['api.example.com', '*.example.org']);
  await assert.rejects(update(w.live, { id: row.id, allowed_hosts: ['https://x.example'] }), { type: 'validation_error' });
  await made(await confirmedOwner(w, 'credential.move'), 'secrets.update', { id: row.id, allowed_hosts: null });
  assert.equal((await secrets.getSecret(w.live, row)).allowed_hosts, null);
});

test('pins narrow freely, and widen without a confirmation only while there is no value that could follow', async () => {
  const w = await workspace();
  const row = await create(w.live, { name: 'narrowing' });
  for (const allowed_hosts of [['*.example.com', 'api.example.org'], ['a.example.com', 'api.example.org'], ['a.example.com']])
    await update(w.live, { id: row.id, allowed_hosts });
  for (const allowed_hosts of [['*.example.com'], ['b.example.com'], ['a.example.com', 'b.example.com'], null])
    await assert.rejects(update(w.live, { id: row.id, allowed_hosts }), { type: 'validation_error' }, String(allowed_hosts));
  // A value that was replaced can be restored, so it counts.
  await secrets.putValue(w.live, { id: row.id, value: 'junk' });
  await assert.rejects(update(w.live, { id: row.id, allowed_hosts: null }), { type: 'validation_error' });
  const empty = await create(w.live, { name: 'empty', value: undefined, allowed_hosts: ['api.example.com'] });
  await update(w.live, { id: empty.id, allowed_hosts: null });
});

test('an Editor with Reveal secrets widens pins after confirming it, and a policy against reveals holds for that too', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'guarded', allowed_hosts: ['api.example.com'] });
  const editor = w.ctx('live', { ...memberActor('editor'), reveal_secrets: true } as Ctx['actor']);
  await verified(editor, 'credential.move');
  await made(editor, 'secrets.update', { id, allowed_hosts: ['api.example.com', 'b.example.com'] });
  await db().tenant_policies.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, name: 'four eyes', actions: ['secret:reveal'], subjects: { all: true }, resources: [] },
      ...{ space: 'both', reason: 'four eyes' },
    },
  });
  forgetRules(w.tenant.id);
  const owner = w.member('owner');
  await verified(owner, 'credential.move');
  await assert.rejects(made(owner, 'secrets.update', { id, allowed_hosts: null }), { type: 'validation_error' });
  assert.deepEqual((await secrets.getSecret(w.live, { id })).allowed_hosts, ['api.example.com', 'b.example.com']);
});

test('a plan limit holds against parallel creates and against an import', async () => {
  const w = await workspace({ plan: 'free' });
  const results = await Promise.allSettled(Array.from({ length: 24 }, (_, i) => create(w.ctx('live'), { name: `s${i}` })));
  assert.equal(results.filter((r) => r.status === 'fulfilled').length, 20);
  const refused = results.find((r) => r.status === 'rejected') as PromiseRejectedResult;
  assert.deepEqual([refused.reason.type, refused.reason.status], ['plan_limit', 402]);
  await assert.rejects(importEnv(w.live, ImportEnv.parse({ content: 'NEW=1' })), { type: 'plan_limit' });
});

test('an import creates what is new, skips what exists, refuses what is broken, and a dry run stores nothing', async () => {
  const w = await workspace();
  await create(w.live, { name: 'stripe_key', value: 'old' });
  const content = 'STRIPE_KEY=new\nA=1\nA=2\nEMPTY=\nbroken line\nexport B="x y"\nC=3';
  const expected = {
    skipped: [
      { name: 'A', reason: 'repeated on line 3' },
      { name: 'C', reason: 'not selected' },
      { name: 'STRIPE_KEY', reason: 'a secret with this name already exists' },
    ],
    refused: [
      { line: 4, name: 'EMPTY', reason: 'must not be empty' },
      { line: 5, name: null, reason: 'must be NAME=value' },
    ],
  };
  const only = ['STRIPE_KEY', 'A', 'B'];
  const proposed = await importEnv(w.live, ImportEnv.parse({ content, only, dry_run: 'true' }));
  assert.deepEqual(proposed, {
    dry_run: true,
    environment: 'production',
    created: [
      { name: 'A', id: null },
      { name: 'B', id: null },
    ],
    ...expected,
  });
  assert.equal((await list(w.live)).total, 1);
  const done = await importEnv(w.live, ImportEnv.parse({ content, only }));
  assert.deepEqual({ skipped: done.skipped, refused: done.refused }, expected);
  assert.deepEqual(await Promise.all(done.created.map((c) => opened(w.live, c.id as string))), ['2', 'x y']);
  assert.equal((await list(w.live)).total, 3);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'create' } });
  assert.equal(entries.length, 3);
});

test('every change leaves one audit entry with the register’s verb, a refused change none', async () => {
  const w = await workspace();
  const { id } = await create(w.live, { name: 'audited' });
  await put(w.live, { id, value: 'next' });
  await values.restoreValue(w.member('owner'), { id });
  await update(w.live, { id, description: 'words' });
  await update(w.live, { id, expires_at: null, strict_expiry_enforcement: true });
  await assert.rejects(put(w.live, { id, value: 'x', if_match: '1' }), { type: 'conflict' });
  await secrets.deleteSecret(w.live, { id });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    entries.map((e) => [e.action, e.resource_type, (e.details as { change?: string }).change ?? null]),
    [
      ['create', 'secret', null],
      ['rotate', 'secret', null],
      ['restore', 'secret', null],
      ['update', 'secret', 'metadata'],
      ['update', 'secret', 'expiry'],
      ['delete', 'secret', null],
    ],
  );
  const rotated = entries[1]?.details as { environment: string; value_version: number } | undefined;
  assert.deepEqual([rotated?.environment, rotated?.value_version], ['production', 2]);
});

test('a rename of the environment and writes beside it end without a deadlock and without a lost value', async () => {
  const w = await workspace();
  const staging = await environments.createEnvironment(w.live, { name: 'staging' });
  const { id } = await create(w.live, { name: 'raced', environment: 'staging' });
  const renames = async () => {
    for (const name of ['s2', 'staging', 's3', 'staging']) await environments.updateEnvironment(w.ctx('live'), { id: staging.id, name });
  };
  const writes = Array.from({ length: 12 }, (_, i) => put(w.ctx('live'), { id, value: `v${i}` }));
  const results = await Promise.allSettled([renames(), ...writes]);
  for (const r of results) if (r.status === 'rejected') assert.equal(r.reason.type, 'conflict', String(r.reason));
  const row = await secrets.getSecret(w.live, { id });
  assert.deepEqual(
    row.environments.map((e) => e.environment_name),
    ['staging'],
  );
});

async function aRoute(ctx: Ctx) {
  const base = await db().environments.findFirstOrThrow({ where: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox } });
  return db().routes.create({
    data: { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, name: 'payments', base_environment_id: base.id },
  });
}
