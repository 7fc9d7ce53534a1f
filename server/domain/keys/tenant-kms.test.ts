import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import type { SealedPlace } from '#server/crypto/aad.ts';
import { Keyring, TenantSealed } from '#server/crypto/keyring.ts';
import { eraseDeleted } from '#server/domain/account/erasure.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring, kmsOptions, rootKeys } from '#server/platform/keys.ts';
import { fakeKmsCalls, setFakeKms } from '#server/platform/kms/fake.ts';
import { sql } from '#server/platform/sql.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { verified } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { kmsPlace, refuseCredentials } from './kms-places.ts';
import { resumeRewraps, rewrap } from './rewrap.ts';
import {
  getTenantKms,
  kmsSetup,
  kmsState,
  listTenantKeys,
  offboardTenantKms,
  onboardTenantKms,
  pollSealed,
  revokeTenantKey,
  rotateTenantKey,
  unsealTenant,
  verifyTenantKms,
} from './service.ts';

await ownDatabase({ SVC_TEST_MODE: '1', KMS_CACHE_SECONDS: '1', KMS_POLL_SECONDS: '1', AZURE_BYOK_ACME: 'secret' });
await runMigrations({ pgPool: sql() });

let keys = 0;
/** A workspace under a KMS key of its own, with everything it has re-wrapped. */
async function onboarded() {
  const w = await workspace();
  const ref = `fake:key-${++keys}`;
  const owner = w.member('owner');
  await onboardTenantKms(owner, { provider: 'fake', kms_key_ref: ref, config: {} });
  await resumeRewraps({ pause: 0 });
  return { w, owner, ref };
}

const placeOf = (ctx: Ctx, id: string): SealedPlace => ({ tenant_id: ctx.tenant_id, space: 'live', purpose: 'secret_value', row_id: id });

/** A stored value, as a secret has it. */
async function store(ctx: Ctx, text = 'value'): Promise<string> {
  const [secretId, environmentId, id] = [newId(), newId(), newId()];
  const sealed = await keyring().sealValue(placeOf(ctx, id), Buffer.from(text));
  const at = { tenant_id: ctx.tenant_id, sandbox: false };
  await db().secrets.create({ data: { ...at, id: secretId, name: secretId, shortcode_name: secretId } });
  await db().secret_environments.create({ data: { ...at, id: environmentId, secret_id: secretId, environment_name: 'production' } });
  await db().secret_values.create({ data: { ...at, id, secret_environment_id: environmentId, value_version: 1, ...sealed } });
  return id;
}
async function open(ctx: Ctx, id: string, ring = keyring()): Promise<string> {
  const { value_ct, cek_wrapped, tmk_version } = await db().secret_values.findUniqueOrThrow({ where: { id } });
  if (!value_ct || !cek_wrapped) throw new Error('wiped');
  return (await ring.openValue(placeOf(ctx, id), { value_ct, cek_wrapped, tmk_version })).toString();
}
const config = (w: Workspace) => db().tenant_kms_configs.findUniqueOrThrow({ where: { tenant_id: w.tenant.id } });
const criticalOf = async (w: Workspace) =>
  (await db().audit_log_critical.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { sequence_number: 'asc' } })).map((e) => e.action);
/** Everything that an operation may have touched. */
const picture = async (w: Workspace) =>
  JSON.stringify([
    await db().tenant_master_keys.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { version: 'asc' } }),
    await db().tenant_kms_configs.findMany({
      where: { tenant_id: w.tenant.id },
      omit: { polled_at: true, last_verified_at: true, updated_at: true },
    }),
    await criticalOf(w),
  ]);
/** As each process does when it hears that the workspace changed. */
const heard = (w: Workspace) => keyring().evict(w.tenant.id);

test('onboarding puts the next version under the customer’s key, re-wraps everything and is recorded', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const id = await store(w.live, 'precious');
  const answer = await onboardTenantKms(owner, { provider: 'fake', kms_key_ref: 'fake:first', config: {} });
  assert.deepEqual([answer.ok, answer.new_key_version, answer.rewrap_status], [true, 2, 'enqueued']);
  await resumeRewraps({ pause: 0 });
  heard(w);
  assert.equal(await open(w.live, id), 'precious');
  const shown = await getTenantKms(owner);
  assert.deepEqual(
    shown.keys.map((k) => [k.version, k.wrap_method, k.status, k.values]),
    [
      [2, 'customer_kms', 'active', 1],
      [1, 'global', 'retired', 0],
    ],
  );
  assert.deepEqual([shown.config.provider, shown.config.sealed_since, shown.rewrap?.state], ['customer_kms_fake', null, 'completed']);
  assert.deepEqual(await criticalOf(w), ['byok.kms.onboard']);
  const row = await db().tenant_master_keys.findFirstOrThrow({ where: { tenant_id: w.tenant.id, version: 2 } });
  assert.deepEqual([row.kms_provider, row.kms_key_ref, row.root_key_id], ['fake', 'fake:first', null]);
});

test('a key that the KMS refuses leaves configuration, keys and audit unchanged', async () => {
  const { w, owner } = await onboarded();
  const before = await picture(w);
  for (const mood of ['deny', 'timeout'] as const) {
    setFakeKms('fake:wrong', mood);
    const reason = mood === 'deny' ? 'access_denied' : 'unreachable';
    await assert.rejects(onboardTenantKms(owner, { provider: 'fake', kms_key_ref: 'fake:wrong', config: {} }), {
      type: 'kms_verify_failed',
      extra: { reason },
    });
  }
  assert.equal(await picture(w), before);
  await assert.rejects(getTenantKms((await workspace()).member('owner')), { type: 'no_kms_config' });
});

test('a plan without it can’t onboard, in Test either, and never traps a key', async () => {
  const w = await workspace({ plan: 'pro' });
  for (const space of ['live', 'test'] as const)
    await assert.rejects(onboardTenantKms(w.member('owner', space), { provider: 'fake', kms_key_ref: 'fake:pro', config: {} }), {
      type: 'plan_feature',
    });
  const { owner, ref } = await onboarded();
  const lapsed = { ...owner, plan: 'free' as const };
  assert.deepEqual(await verifyTenantKms(lapsed), { verified: true });
  assert.equal((await getTenantKms(lapsed)).config.kms_key_ref, ref);
  assert.equal((await offboardTenantKms(lapsed)).rotated, true);
});

test('static credentials are refused wherever they are, and never repeated', async () => {
  const w = await workspace();
  for (const body of [
    { access_key_id: 'AKIA-x' },
    { config: { Secret_Access_Key: 'leak-me' } },
    { config: { nested: [{ deep: { PRIVATE_KEY: 'leak-me' } }] } },
    { config: { note: '{"type":"service_account","private_key": "leak-me"}' } },
  ]) {
    const input = { provider: 'aws', kms_key_ref: 'x', config: {}, ...body };
    await assert.rejects(
      onboardTenantKms(w.member('owner'), input as never),
      (error: Error & { type: string }) => error.type === 'static_credentials_rejected' && !error.message.includes('leak-me'),
    );
  }
  refuseCredentials({ config: { client_secret_env_var: 'AZURE_BYOK_ACME' } });
});

test('every host that a key is reached at follows from a pattern', async () => {
  const own = '11111111-2222-4333-8444-555555555555';
  const aws = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
  const role_arn = 'arn:aws:iam::111122223333:role/svc-kms-access';
  const gcp = 'projects/acme-prod/locations/europe-west3/keyRings/svc/cryptoKeys/k';
  const account = 'svc-kms-sa@acme-prod.iam.gserviceaccount.com';
  const azure = 'https://acme-kv.vault.azure.net/keys/k';
  const vault_url = 'https://acme-kv.vault.azure.net';
  const place = (provider: string, kms_key_ref: string, config: Record<string, string>) => kmsPlace({ provider, kms_key_ref, config }, own);
  const guids = { azure_tenant_id: own, client_id: own };
  assert.deepEqual(place('aws', aws, { region: 'eu-central-1', role_arn }).config, { region: 'eu-central-1', role_arn, external_id: own });
  assert.equal(place('gcp', gcp, { impersonate_service_account: account }).key_ref, gcp);
  assert.equal(
    place('azure', azure, { vault_url: `${vault_url}/`, ...guids, client_secret_env_var: 'AZURE_BYOK_ACME' }).config.vault_url,
    vault_url,
  );
  for (const [provider, ref, given] of [
    ['aws', 'arn:aws:kms:eu-central-1.evil.example:111122223333:key/1', { region: 'eu-central-1.evil.example', role_arn }],
    ['aws', aws, { region: 'us-east-1', role_arn }],
    ['aws', aws, { region: 'eu-central-1', role_arn: 'arn:aws:iam::1:role/x' }],
    ['aws', aws, { region: 'eu-central-1', role_arn, external_id: '99999999-2222-4333-8444-555555555555' }],
    ['aws', aws, { region: 'eu-central-1', role_arn, endpoint: 'https://evil.example' }],
    ['gcp', '../../v1/projects/acme', { impersonate_service_account: account }],
    ['gcp', gcp, { impersonate_service_account: 'root@evil.example' }],
    ['azure', 'https://evil.example/keys/k', { vault_url: 'https://evil.example' }],
    ['azure', 'https://acme-kv.vault.azure.net.evil.example/keys/k', { vault_url }],
    ['azure', 'https://u:p@acme-kv.vault.azure.net/keys/k', { vault_url }],
    ['azure', azure, { vault_url: 'https://other-kv.vault.azure.net' }],
    ['azure', azure, { vault_url, ...guids, client_secret_env_var: 'MASTER_KEY_B64' }],
    ['azure', azure, { vault_url, ...guids, client_secret_env_var: 'AZURE_BYOK_UNSET' }],
    ['azure', azure, { vault_url, client_secret_env_var: 'AZURE_BYOK_ACME' }],
    ['vault', azure, {}],
    ['__proto__', azure, {}],
  ] as const)
    assert.throws(() => place(provider, ref, given as never), { type: 'validation_error' }, JSON.stringify([provider, ref, given]));
});

test('a denied key seals the workspace within the life of a cached key, and nothing opens after it even under load', async () => {
  const { w, owner, ref } = await onboarded();
  const id = await store(w.live, 'precious');
  assert.equal(await open(w.live, id), 'precious');
  setFakeKms(ref, 'deny');
  let [opened, refused] = [0, 0];
  const row = await db().secret_values.findUniqueOrThrow({ where: { id } });
  const stored = { value_ct: row.value_ct as Uint8Array, cek_wrapped: row.cek_wrapped as Uint8Array, tmk_version: row.tmk_version };
  // Callers that never stop asking must not keep the key alive: unless it ends, this doesn't.
  const hammer = Array.from({ length: 8 }, async () => {
    while (refused < 400) {
      const sealed = refused > 0;
      await keyring()
        .openValue(placeOf(w.live, id), stored)
        .then(
          () => {
            assert.ok(!sealed, 'nothing opens after the first refusal');
            opened++;
          },
          (error: unknown) => {
            assert.ok(error instanceof TenantSealed);
            refused++;
          },
        );
      await setImmediate();
    }
  });
  await Promise.all(hammer);
  assert.ok(opened > 0, 'the cached key was used to its end');
  const { sealed_since, sealed_reason, last_verify_error } = await config(w);
  assert.ok(sealed_since);
  assert.deepEqual([sealed_reason, last_verify_error], ['access_denied', 'access_denied: AccessDenied']);
  assert.deepEqual((await kmsState(owner)).sealed_reason, 'access_denied');
  assert.ok(!(await criticalOf(w)).includes('byok.kms.unseal'), 'the seal itself is no entry of the chain');
  await assert.rejects(rotateTenantKey(owner), { type: 'sealed' });
  await assert.rejects(offboardTenantKms(owner), { type: 'sealed' });
  await assert.rejects(store(w.live), TenantSealed);
});

test('without any traffic the poll finds that a key is gone, and that it is back; Owners are told of both', async () => {
  const { w, ref } = await onboarded();
  await (await dashboardPerson()).join(w.tenant.id, 'owner');
  const events = await watchEvents(w.live, 'tenant.sealed', 'tenant.unsealed');
  const mails = async () =>
    (await db().mails.findMany({ where: { kind: 'kms', subject: { startsWith: w.tenant.name } }, orderBy: { created_at: 'asc' } })).map(
      (m) => m.subject.replace(w.tenant.name, '').trim(),
    );
  const due = () => sql().query("update tenant_kms_configs set polled_at = now() - interval '1 hour' where tenant_id = $1", [w.tenant.id]);
  setFakeKms(ref, 'deny');
  await due();
  await pollSealed();
  assert.ok((await config(w)).sealed_since);
  await due();
  await pollSealed();
  assert.ok((await config(w)).sealed_since, 'still denied');
  assert.deepEqual(await mails(), ['is sealed']);
  setFakeKms(ref, null);
  await due();
  await Promise.all([pollSealed(), pollSealed()]);
  heard(w);
  const after = await config(w);
  assert.deepEqual([after.sealed_since, after.sealed_reason, after.last_verify_error], [null, null, null]);
  const unseals = await db().audit_log_critical.findMany({ where: { tenant_id: w.tenant.id, action: 'byok.kms.unseal' } });
  assert.deepEqual(
    unseals.map(({ actor_id, details }) => [actor_id, (details as { trigger: string }).trigger]),
    [[null, 'auto']],
  );
  assert.deepEqual(await mails(), ['is sealed', 'is unsealed']);
  assert.deepEqual(
    (await events()).map(({ type, about }) => [type, about]),
    [
      ['tenant.sealed', w.tenant.id],
      ['tenant.unsealed', w.tenant.id],
    ],
  );
  await store(w.live);
});

test('a KMS that does not answer seals after its retries, and the page says which of the two it was', async () => {
  const { w, ref } = await onboarded();
  setFakeKms(ref, 'timeout');
  heard(w);
  const before = fakeKmsCalls(ref);
  await assert.rejects(keyring().activeTmk(w.tenant.id), TenantSealed);
  assert.equal(fakeKmsCalls(ref), before + 3, 'three tries');
  assert.equal((await config(w)).sealed_reason, 'unreachable');
  await assert.rejects(keyring().activeTmk(w.tenant.id), TenantSealed);
  assert.equal(fakeKmsCalls(ref), before + 3, 'nobody asks a KMS that is known to be away');
  setFakeKms(ref, null);
});

test('sealed, also values under a version that another key wraps stay shut', async () => {
  const w = await workspace();
  const id = await store(w.live, 'old');
  await onboardTenantKms(w.member('owner'), { provider: 'fake', kms_key_ref: 'fake:halfway', config: {} });
  heard(w);
  assert.equal(await open(w.live, id), 'old', 'not re-wrapped yet');
  setFakeKms('fake:halfway', 'deny');
  heard(w);
  await assert.rejects(keyring().activeTmk(w.tenant.id), TenantSealed);
  heard(w);
  await assert.rejects(open(w.live, id), TenantSealed);
});

test('unsealing needs a seal, access, and a confirmation of its own scope', async () => {
  const { w, owner, ref } = await onboarded();
  await assert.rejects(unsealTenant((await workspace()).member('owner')), { type: 'no_kms_config' });
  await assert.rejects(unsealTenant(owner), { type: 'not_sealed' });
  setFakeKms(ref, 'deny');
  heard(w);
  await assert.rejects(keyring().activeTmk(w.tenant.id), TenantSealed);
  await assert.rejects(unsealTenant(owner), { type: 'unseal_failed', status: 502, extra: { reason: 'access_denied' } });
  setFakeKms(ref, null);
  const asked = { ...owner, step_up: { scope: 'tenant.kms.unseal' as const, token_digest: null, used: null } };
  await verified(owner, 'tenant.kms');
  await assert.rejects(unsealTenant(asked), { type: 'step_up_required' });
  assert.ok((await config(w)).sealed_since, 'a confirmation of another scope unseals nothing');
  await verified(owner, 'tenant.kms.unseal');
  assert.deepEqual(await unsealTenant(asked), { unsealed: true });
  heard(w);
  await store(w.live);
});

test('verify asks the KMS and changes nothing else', async () => {
  const { w, owner, ref } = await onboarded();
  const before = await picture(w);
  assert.deepEqual(await verifyTenantKms(owner), { verified: true });
  assert.equal(await picture(w), before);
  setFakeKms(ref, 'deny');
  await assert.rejects(verifyTenantKms(owner), { type: 'kms_probe_failed', status: 502, extra: { reason: 'access_denied' } });
  const { sealed_since, last_verify_error } = await config(w);
  assert.deepEqual([sealed_since, last_verify_error], [null, 'access_denied: AccessDenied']);
});

test('rotation under the customer’s key during 200 concurrent reads and writes: nothing fails, all ends under the new version', async () => {
  const { w, owner } = await onboarded();
  const kept = await Promise.all(Array.from({ length: 20 }, (_, i) => store(w.live, `v${i}`)));
  const work = Array.from({ length: 200 }, (_, i) =>
    i % 4 === 0 ? store(w.live).then((id) => open(w.live, id)) : open(w.live, kept[i % 20] as string),
  );
  const { new_version, rewrap_lease_id } = await rotateTenantKey(owner);
  await Promise.all(work);
  await rewrap(rewrap_lease_id as number, { pause: 0 });
  await resumeRewraps({ pause: 0, stragglers: true });
  const versions = await db().secret_values.groupBy({ by: ['tmk_version'], where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    versions.map((v) => v.tmk_version),
    [new_version],
  );
  heard(w);
  for (const [i, id] of kept.entries()) assert.equal(await open(w.live, id), `v${i}`);
  const parallel = await Promise.allSettled(Array.from({ length: 4 }, () => rotateTenantKey(owner)));
  for (const one of parallel) if (one.status === 'rejected') assert.equal((one.reason as { type: string }).type, 'rotation_in_progress');
  assert.ok(parallel.some(({ status }) => status === 'fulfilled'));
  assert.equal(await db().tenant_master_keys.count({ where: { tenant_id: w.tenant.id, status: 'active' } }), 1);
});

test('re-wrapping pauses while the workspace is sealed, calls no row damaged, and goes on afterwards', async () => {
  const { w, owner, ref } = await onboarded();
  for (let i = 0; i < 6; i++) await store(w.live);
  const { rewrap_lease_id: lease } = await rotateTenantKey(owner);
  setFakeKms(ref, 'deny');
  heard(w);
  assert.equal(await rewrap(lease as number, { pause: 0 }), 0);
  assert.equal((await listTenantKeys(owner)).rewrap?.state, 'paused');
  setFakeKms(ref, null);
  await sql().query("update tenant_kms_configs set polled_at = now() - interval '1 hour' where tenant_id = $1", [w.tenant.id]);
  await sql().query('update rewrap_leases set expires_at = now() where id = $1', [lease]);
  await pollSealed();
  heard(w);
  assert.equal(await rewrap(lease as number, { pause: 0 }), 6);
});

test('revoking: in order of its refusals, and what was under the version is gone for good', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const confirm_slug = w.tenant.slug;
  const id = await store(w.live, 'doomed');
  const ask = (version: number, force = false, ctx: Ctx = owner) => revokeTenantKey(ctx, { version, confirm_slug, force });
  await assert.rejects(revokeTenantKey(owner, { version: 1, confirm_slug: 'other', force: true }), { type: 'validation_error' });
  await assert.rejects(ask(7), { type: 'key_version_not_found' });
  await assert.rejects(ask(1), { type: 'version_active' });
  await rotateTenantKey(owner);
  await assert.rejects(ask(1), { type: 'rewrap_pending', extra: { rows_remaining: 1 } });
  await assert.rejects(ask(1, true, w.member('admin')), { type: 'role_denied' });
  assert.deepEqual(await ask(1, true), { revoked: true, version: 1, rows_erased: 1, sealed: false });
  await assert.rejects(ask(1, true), { type: 'already_revoked' });
  heard(w);
  await assert.rejects(open(w.live, id), { name: 'TenantKeyUnavailable', reason: 'revoked' });
  await store(w.live, 'later');
  const key = await db().tenant_master_keys.findFirstOrThrow({ where: { tenant_id: w.tenant.id, version: 1 } });
  assert.deepEqual([key.wrapped_key, key.status], [null, 'revoked']);
});

test('a retired version is revoked once its re-wrapping has finished, and not for having no values', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const ask = (version: number, force = false) => revokeTenantKey(owner, { version, confirm_slug: w.tenant.slug, force });
  await rotateTenantKey(owner);
  await assert.rejects(ask(1), { type: 'rewrap_pending', extra: { rows_remaining: 0 } });
  await resumeRewraps({ pause: 0 });
  assert.deepEqual(await ask(1), { revoked: true, version: 1, rows_erased: 0, sealed: false });
  // A lease that could not be issued is issued by the hourly sweep.
  const { rewrap_lease_id: lost } = await rotateTenantKey(owner);
  await sql().query('delete from rewrap_leases where id = $1', [lost]);
  await resumeRewraps({ pause: 0 });
  await assert.rejects(ask(2), { type: 'rewrap_pending' });
  await resumeRewraps({ pause: 0, stragglers: true });
  assert.equal((await ask(2)).revoked, true);
});

test('values lost with a forced revocation hold up no later re-wrapping', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  await store(w.live, 'lost');
  await rotateTenantKey(owner);
  await revokeTenantKey(owner, { version: 1, confirm_slug: w.tenant.slug, force: true });
  heard(w);
  const kept = await store(w.live, 'kept');
  await rotateTenantKey(owner);
  await resumeRewraps({ pause: 0, stragglers: true });
  const { keys, rewrap: state } = await listTenantKeys(owner);
  assert.equal(state?.state, 'completed');
  assert.deepEqual(
    keys.map((k) => [k.version, k.status, k.rewrap_completed_at !== null]),
    [
      [3, 'active', false],
      [2, 'retired', true],
      [1, 'revoked', false],
    ],
  );
  assert.equal((await revokeTenantKey(owner, { version: 2, confirm_slug: w.tenant.slug, force: false })).rows_erased, 0);
  heard(w);
  assert.equal(await open(w.live, kept), 'kept');
});

test('revoking the version in use is a seal that nothing ends', async () => {
  const { w, owner, ref } = await onboarded();
  const { version } = await keyring().activeTmk(w.tenant.id);
  const answer = await revokeTenantKey(owner, { version, confirm_slug: w.tenant.slug, force: true });
  assert.equal(answer.sealed, true);
  setFakeKms(ref, null);
  await assert.rejects(unsealTenant(owner), { type: 'key_revoked' });
  await sql().query("update tenant_kms_configs set polled_at = now() - interval '1 hour' where tenant_id = $1", [w.tenant.id]);
  await pollSealed();
  assert.equal((await config(w)).sealed_reason, 'key_revoked');
});

test('a rotation, a revocation or an onboarding that cannot be recorded does not happen', async () => {
  const { w, owner } = await onboarded();
  await rotateTenantKey(owner);
  await resumeRewraps({ pause: 0 });
  const before = await picture(w);
  await sql().query('revoke insert on audit_log_critical from sallyport_app');
  try {
    await assert.rejects(rotateTenantKey(owner), { type: 'audit_unavailable' });
    await assert.rejects(offboardTenantKms(owner), { type: 'audit_unavailable' });
    await assert.rejects(revokeTenantKey(owner, { version: 2, confirm_slug: w.tenant.slug, force: false }), { type: 'audit_unavailable' });
    await assert.rejects(onboardTenantKms(owner, { provider: 'fake', kms_key_ref: 'fake:other', config: {} }), {
      type: 'audit_unavailable',
    });
  } finally {
    await sql().query('grant insert on audit_log_critical to sallyport_app');
  }
  assert.equal(await picture(w), before);
});

test('leaving: the next version is the service’s, and the KMS is forgotten once nothing needs it', async () => {
  const { w, owner, ref } = await onboarded();
  const id = await store(w.live, 'mine');
  const { rewrap_lease_id: lease } = await offboardTenantKms(owner);
  assert.equal((await getTenantKms(owner)).config.leaving, true);
  await assert.rejects(offboardTenantKms(owner), { type: 'no_kms_config' });
  await rewrap(lease as number, { pause: 0 });
  await assert.rejects(getTenantKms(owner), { type: 'no_kms_config' });
  setFakeKms(ref, 'deny');
  heard(w);
  assert.equal(await open(w.live, id), 'mine');
});

test('a retired version opens where it was wrapped, whatever the configuration says since', async () => {
  const { w, owner, ref } = await onboarded();
  const id = await store(w.live, 'under the first key');
  await onboardTenantKms(owner, { provider: 'fake', kms_key_ref: 'fake:second', config: {} });
  const fresh = new Keyring(
    async (tenantId, version) => {
      const row = await db().tenant_master_keys.findFirst({
        where: { tenant_id: tenantId, ...(version === 'active' ? { status: 'active' } : { version }) },
      });
      const kms = row && { provider: String(row.kms_provider), key_ref: String(row.kms_key_ref), config: {}, key_version: null };
      return row && { ...row, wrap_method: row.wrap_method as 'customer_kms', kms };
    },
    rootKeys(),
    kmsOptions(),
  );
  assert.equal(await open(w.live, id, fresh), 'under the first key');
  // Its key gone, the values under it are refused, and the workspace, whose key in use answers, is not sealed.
  fresh.wipe();
  setFakeKms(ref, 'deny');
  await assert.rejects(open(w.live, id, fresh), TenantSealed);
  assert.equal((await config(w)).sealed_since, null);
});

test('erasing a workspace records and destroys every version first', async () => {
  const { w } = await onboarded();
  const long = new Date(Date.now() - 20 * 86_400_000);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { deleted_at: long } });
  const outcome = await db().$transaction((tx) => eraseDeleted(tx, [{ resource_id: w.tenant.id } as never], new Date()));
  await outcome.committed?.();
  const versions = await db().tenant_master_keys.findMany({ where: { tenant_id: w.tenant.id } });
  assert.ok(versions.length === 2 && versions.every((v) => v.wrapped_key === null && v.status === 'revoked' && v.revoked_at));
  assert.equal((await criticalOf(w)).filter((action) => action === 'byok.kms.revoke').length, 2);
  await assert.rejects(keyring().activeTmk(w.tenant.id));
});

test('the external ID is the workspace’s own and not echoed with the configuration', async () => {
  const [one, other] = await Promise.all([workspace(), workspace()]);
  const [a, b] = await Promise.all([kmsSetup(one.member('owner')), kmsSetup(other.member('owner'))]);
  assert.notEqual(a.external_id, b.external_id);
  assert.deepEqual(await kmsSetup(one.member('admin')), a);
});
