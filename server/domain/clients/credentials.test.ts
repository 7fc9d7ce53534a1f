import assert from 'node:assert/strict';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, X509Certificate } from 'node:crypto';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { ed25519Key } from '#server/crypto/client-credentials.fixture.ts';
import { spelledOutPair } from '#server/crypto/named-curve.fixture.ts';
import { createSecret, deleteSecret } from '#server/domain/secrets/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { testDatabase } from '#server/testing/database.ts';
import { signedInLongAgo } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as credentials from './credentials.ts';
import * as operations from './operations.ts';
import { CreateClient, CreateCredential, CredentialInput, type CredentialKind, UpdateCredential } from './schema.ts';
import { createClient, deleteClient, updateClient } from './service.ts';

await testDatabase();

const aClient = (ctx: Ctx, name = 'caller') => createClient(ctx, CreateClient.parse({ name, ip_address: '203.0.113.9' }));
/** Past what the schema refuses of the members of a kind: the service is held to its rules all the same. */
const add = (ctx: Ctx, id: string, kind: CredentialKind, data: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
  credentials.createCredential(ctx, {
    ...CreateCredential.parse({ id, kind: 'ip', data: { value: '192.0.2.1' }, ...more }),
    kind,
    data: CredentialInput.parse(data),
  });
const change = (ctx: Ctx, input: Record<string, unknown>) => credentials.updateCredential(ctx, UpdateCredential.parse(input));

async function material(ctx: Ctx, id: string): Promise<Buffer> {
  const row = await db().client_credentials.findUniqueOrThrow({ where: { id } });
  const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'client_credential', row_id: id } as const;
  return keyring().openValue(place, {
    value_ct: row.secret_ct as Uint8Array,
    cek_wrapped: row.cek_wrapped as Uint8Array,
    tmk_version: row.tmk_version as number,
  });
}

test('an issued certificate chains to the workspace authority, names the client, and only its thumbprint is kept', async () => {
  const w = await workspace();
  const client = await aClient(w.live, 'Billing, O=Evil');
  const made = await add(w.live, client.id, 'mtls_thumbprint', { mode: 'issue', ttl_days: 30 });
  const leaf = new X509Certificate(made.reveal?.certificate_pem ?? '');
  const root = new X509Certificate(made.reveal?.ca_chain_pem ?? '');
  assert.ok(
    leaf.verify(root.publicKey) && leaf.checkIssued(root) && leaf.checkPrivateKey(createPrivateKey(made.reveal?.private_key_pem ?? '')),
  );
  assert.deepEqual({ ...leaf.toLegacyObject().subject }, { CN: 'Billing, O=Evil' });
  assert.match(leaf.subjectAltName ?? '', new RegExp(`urn:svc:client:${client.id}`));
  assert.equal(made.data.thumbprint, createHash('sha256').update(leaf.raw).digest('hex'));
  assert.deepEqual(Object.keys(made.data).sort(), ['not_after', 'serial', 'subject', 'thumbprint']);
  const stored = JSON.stringify(await db().client_credentials.findUniqueOrThrow({ where: { id: made.id } }));
  assert.ok(!stored.includes('PRIVATE KEY') && !stored.includes('BEGIN CERTIFICATE'));
});

test('an old session adds what holds no secret, and nothing that it is shown or brings along', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const { id } = await aClient(owner);
  const attempt = (kind: CredentialKind, data: object) =>
    perform(operations.createCredential, { ...signedInLongAgo(owner), warnings: [] }, { id, kind, data });
  await attempt('ip', { value: '198.51.100.0/24' });
  await attempt('mtls_thumbprint', { thumbprint: 'ab'.repeat(32) });
  await attempt('signature_ed25519', { public_key: generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) });
  for (const [kind, data] of [
    ['mtls_thumbprint', { mode: 'issue' }],
    ['signature_hmac', { mode: 'generate' }],
    ['signature_hmac', { mode: 'import', secret: 'x'.repeat(40) }],
    ['signature_ed25519', { mode: 'generate' }],
  ] as const)
    await assert.rejects(attempt(kind, data), {
      type: 'step_up_required',
      extra: { action_scope: 'credential.mint', allowed_methods: ['sign_in'] },
    });
});

test('first issues at once share one authority, in both spaces, and its key is sealed', async () => {
  const w = await workspace();
  const rows = await Promise.all([w.live, w.live, w.test, w.test].map((ctx) => aClient(ctx)));
  const made = await Promise.all(
    rows.map((row, i) => add(i < 2 ? w.ctx('live') : w.ctx('test'), row.id, 'mtls_thumbprint', { mode: 'issue' })),
  );
  assert.equal(new Set(made.map((m) => m.reveal?.ca_chain_pem)).size, 1);
  const authority = await db().client_authorities.findUniqueOrThrow({ where: { tenant_id: w.tenant.id } });
  assert.ok(!Buffer.from(authority.key_ct).toString('latin1').includes('PRIVATE KEY'));
});

test('a certificate is registered by PEM or thumbprint in any usual form, once per space while enabled', async () => {
  const w = await workspace();
  const [client, second] = [await aClient(w.live), await aClient(w.live)];
  const issued = await add(w.live, client.id, 'mtls_thumbprint', { mode: 'issue' });
  const thumbprint = issued.data.thumbprint as string;
  const spelled = thumbprint.toUpperCase().replace(/..(?=.)/g, '$&:');
  await assert.rejects(add(w.live, second.id, 'mtls_thumbprint', { thumbprint: spelled }), { type: 'conflict' });
  await change(w.live, { id: client.id, credentialId: issued.id, enabled: false });
  const registered = await add(w.live, second.id, 'mtls_thumbprint', { mode: 'register', certificate_pem: issued.reveal?.certificate_pem });
  assert.deepEqual([registered.data.thumbprint, registered.reveal, registered.data.serial], [thumbprint, undefined, undefined]);
  await assert.rejects(change(w.live, { id: client.id, credentialId: issued.id, enabled: true }), { type: 'conflict' });
  const other = await aClient(w.test);
  assert.deepEqual((await add(w.test, other.id, 'mtls_thumbprint', { thumbprint: spelled })).data, { thumbprint });
  for (const data of [
    {},
    { mode: 'generate' },
    { thumbprint: 'ab' },
    { certificate_pem: 'x' },
    { certificate_pem: issued.reveal?.private_key_pem },
    { certificate_pem: spelledOutPair().certificate_pem },
    { certificate_pem: issued.reveal?.certificate_pem, thumbprint: 'a'.repeat(64) },
  ])
    await assert.rejects(add(w.live, second.id, 'mtls_thumbprint', data), { type: 'validation_error' }, JSON.stringify(data).slice(0, 60));
});

test('signing secrets are generated, imported or read from a secret, and stored sealed to their row', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const generated = await add(w.live, client.id, 'signature_hmac', { mode: 'generate' });
  assert.equal((await material(w.live, generated.id)).toString('base64url'), generated.reveal?.secret);
  assert.deepEqual(generated.data, { key_id: generated.id });
  const text = `${'x'.repeat(31)}é`;
  const imported = await add(w.live, client.id, 'signature_hmac', { mode: 'import', secret: text });
  assert.equal((await material(w.live, imported.id)).toString('utf8'), text);
  assert.equal(imported.reveal, undefined);
  const secret = await createSecret(w.live, { name: 'hmac', value: 'v' });
  const referring = await add(w.live, client.id, 'signature_hmac', { secret_id: secret.id });
  assert.deepEqual(referring.data, { key_id: referring.id, secret_id: secret.id });
  await assert.rejects(deleteSecret(w.live, secret), { type: 'in_use', message: /client credential caller/ });
  const foreign = await createSecret(w.test, { name: 'hmac', value: 'v' });
  for (const data of [
    {},
    { mode: 'import' },
    { mode: 'import', secret: 'short' },
    { mode: 'issue' },
    { secret_id: foreign.id },
    { secret_id: newId() },
    { secret_id: secret.id, secret: text },
    { secret_id: secret.id, mode: 'generate' },
  ])
    await assert.rejects(add(w.live, client.id, 'signature_hmac', data), { type: 'validation_error' });
  await credentials.deleteCredential(w.live, { id: client.id, credentialId: referring.id });
  await deleteSecret(w.live, secret);
});

test('a client that reads a secret frees it when the client goes', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const secret = await createSecret(w.live, { name: 'hmac', value: 'v' });
  await add(w.live, client.id, 'signature_hmac', { secret_id: secret.id });
  await deleteClient(w.live, client);
  await deleteSecret(w.live, secret);
});

test('an Ed25519 key is generated or given in either form, and verifies', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const made = await add(w.live, client.id, 'signature_ed25519', { mode: 'generate' });
  const signature = sign(null, Buffer.from('m'), createPrivateKey(made.reveal?.private_key_pem ?? ''));
  assert.ok(verify(null, Buffer.from('m'), ed25519Key(made.data.public_key as string), signature));
  const pem = createPublicKey(made.reveal?.private_key_pem ?? '')
    .export({ type: 'spki', format: 'pem' })
    .toString();
  const given = await add(w.live, client.id, 'signature_ed25519', { public_key: pem });
  assert.deepEqual(given.data, { public_key: made.data.public_key, key_id: given.id });
  for (const data of [
    {},
    { public_key: made.reveal?.private_key_pem },
    { public_key: 'A'.repeat(43) },
    { mode: 'import' },
    { mode: 'generate', public_key: pem },
  ])
    await assert.rejects(add(w.live, client.id, 'signature_ed25519', data), { type: 'validation_error' });
});

test('addresses are canonical, unique per client and at most 50; signature keys at most 10; certificates at most 20', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  assert.deepEqual((await add(w.live, client.id, 'ip', { ip: '10.1.2.3/8' })).data, { value: '10.0.0.0/8' });
  for (const value of ['10.9.9.9/8', '203.0.113.9/32']) await assert.rejects(add(w.live, client.id, 'ip', { value }), { type: 'conflict' });
  await assert.rejects(updateClient(w.live, { id: client.id, ip_address: '10.0.0.0/8' }), { type: 'conflict' });
  const fill = async (kind: CredentialKind, n: number, data: (i: number) => Record<string, unknown>) => {
    for (let i = 0; i < n; i++) await add(w.live, client.id, kind, data(i));
    await assert.rejects(add(w.live, client.id, kind, data(n)), { type: 'validation_error' }, kind);
  };
  await fill('ip', 48, (i) => ({ value: `192.0.2.${i}` }));
  await fill('signature_hmac', 10, () => ({ mode: 'generate' }));
  await assert.rejects(add(w.live, client.id, 'signature_ed25519', { mode: 'generate' }), { type: 'validation_error' });
  await fill('mtls_thumbprint', 20, (i) => ({ thumbprint: i.toString(16).padStart(64, '0') }));
});

test('a limit holds against parallel calls', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const results = await Promise.allSettled(
    Array.from({ length: 14 }, () => add(w.ctx('live'), client.id, 'signature_hmac', { mode: 'generate' })),
  );
  assert.equal(results.filter((r) => r.status === 'fulfilled').length, 10);
});

test('the primary address is not deleted but may be disabled', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const [primary] = await credentials.listCredentials(w.live, client);
  const ref = { id: client.id, credentialId: primary?.id as string };
  await assert.rejects(credentials.deleteCredential(w.live, ref), { type: 'validation_error' });
  assert.equal((await change(w.live, { ...ref, enabled: false })).enabled, false);
  const other = await aClient(w.live);
  await assert.rejects(change(w.live, { ...ref, id: other.id, enabled: true }), { type: 'not_found' });
});

test('a kind that no call is recognised by is refused, not stored', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  for (const kind of ['machine_id', 'workload_identity'])
    await assert.rejects(perform(operations.createCredential, w.live, { id: client.id, kind, data: { mode: 'issue' } }), {
      type: 'validation_error',
      message: /kind not available/,
    });
  assert.deepEqual(
    (await credentials.listCredentials(w.live, client)).map((c) => c.kind),
    ['ip'],
  );
});

test('each kind takes its own members over the wire, and no others', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const add = (kind: string, data: object) => perform(operations.createCredential, w.live, { id: client.id, kind, data });
  for (const [kind, data] of [
    ['ip', {}],
    ['ip', { value: '192.0.2.1', ip: '192.0.2.1' }],
    ['ip', { value: '192.0.2.1', secret: 'x'.repeat(32) }],
    ['signature_hmac', { value: '192.0.2.1' }],
    ['signature_hmac', { mode: 'generate', public_key: 'x' }],
    ['signature_hmac', { mode: 'issue' }],
    ['signature_ed25519', { mode: 'import', secret: 'x'.repeat(32) }],
    ['signature_ed25519', { mode: 'generate', certificate_pem: 'x' }],
    ['mtls_thumbprint', { mode: 'issue', value: '192.0.2.1' }],
    ['mtls_thumbprint', { mode: 'issue', ttl_days: 0 }],
    ['mtls_thumbprint', { mode: 'issue', ttl_days: 826 }],
    ['mtls_thumbprint', { mode: 'issue', thumbprint: 'a'.repeat(64) }],
    ['mtls_thumbprint', { mode: 'register', ttl_days: 30, thumbprint: 'a'.repeat(64) }],
  ] as const)
    await assert.rejects(add(kind, data), { type: 'validation_error' }, `${kind} ${JSON.stringify(data)}`);
  const hmac = (await add('signature_hmac', { mode: 'generate' })).output as { reveal: { secret: string } };
  assert.equal(Buffer.from(hmac.reveal.secret, 'base64url').length, 32);
  const ed = (await add('signature_ed25519', { mode: 'generate' })).output as { reveal: { private_key_pem: string } };
  assert.match(ed.reveal.private_key_pem, /BEGIN PRIVATE KEY/);
  const issued = (await add('mtls_thumbprint', { mode: 'issue' })).output as { data: object; reveal: object };
  assert.deepEqual(Object.keys(issued.reveal).sort(), ['ca_chain_pem', 'certificate_pem', 'private_key_pem']);
  assert.deepEqual(Object.keys(issued.data).sort(), ['not_after', 'serial', 'subject', 'thumbprint']);
});

test('what is revealed once never comes back: not in lists, reads, refusals or the audit log', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const planted = 'cAnArY'.repeat(8);
  const revealed: string[] = [planted];
  const run = async (op: AnyOperation, raw: unknown): Promise<unknown> => {
    try {
      return (await perform(op, w.live, raw)).output;
    } catch (error) {
      const refusal = asRefusal(error);
      assert.notEqual(refusal.type, 'internal_error', `${op.id} ${String((refusal.cause as Error)?.message)}`);
      return [refusal.type, refusal.message];
    }
  };
  const { id } = client;
  const creates: [CredentialKind, Record<string, unknown>][] = [
    ['signature_hmac', { mode: 'generate' }],
    ['signature_hmac', { mode: 'import', secret: planted }],
    ['signature_ed25519', { mode: 'generate' }],
    ['mtls_thumbprint', { mode: 'issue' }],
    ['ip', { value: '10.0.0.1', secret: planted }],
    ['signature_hmac', { mode: 'import', secret: planted.slice(0, 31) }],
    ['mtls_thumbprint', { certificate_pem: planted }],
    ['signature_ed25519', { public_key: planted }],
  ];
  let last = '';
  for (const [kind, data] of creates) {
    const refused = JSON.stringify(await run(operations.createCredential, { id, kind: kind === 'ip' ? planted : kind, data }));
    assert.ok(!refused.includes(planted.slice(0, 31)), refused);
    const answer: { id?: string; reveal?: Record<string, string> } = await add(w.live, id, kind, data).catch((error: unknown) => {
      const { type, message } = asRefusal(error);
      assert.equal(type, 'validation_error');
      return { reveal: { message } };
    });
    last = answer.id ?? last;
    for (const key of ['secret', 'private_key_pem'])
      if (answer.reveal?.[key]) revealed.push((answer.reveal[key] as string).split('\n').at(-3) ?? '');
    assert.ok(!JSON.stringify(answer).includes(planted.slice(0, 31)), JSON.stringify(answer));
  }
  assert.ok(revealed.length >= 4);
  for (const op of Object.values(operations) as AnyOperation[]) {
    if (op === operations.createCredential) continue;
    for (const raw of [
      { id },
      { id, credentialId: last },
      { id, credentialId: last, label: 'x' },
      { id, assignments: [{ route_id: id, environment_name: planted }] },
    ]) {
      const answer = JSON.stringify(await run(op, raw));
      for (const text of revealed.filter(Boolean)) assert.ok(!answer.includes(text), `${op.id} shows what was revealed once`);
      assert.doesNotMatch(answer, /secret_ct|cek_wrapped|"reveal"|PRIVATE KEY/);
    }
  }
  const audit = JSON.stringify(await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id } }), (_, v) =>
    typeof v === 'bigint' ? String(v) : v,
  );
  for (const text of revealed.filter(Boolean)) assert.ok(!audit.includes(text));
});

test('every credential change is an update of the client that names the credential', async () => {
  const w = await workspace();
  const client = await aClient(w.live);
  const made = await add(w.live, client.id, 'signature_hmac', { mode: 'generate' }, { label: 'k' });
  await change(w.live, { id: client.id, credentialId: made.id, label: null });
  await credentials.deleteCredential(w.live, { id: client.id, credentialId: made.id });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
  const told = entries
    .slice(1)
    .map(
      (e) =>
        ({ ...(e.details as Record<string, unknown>), on: `${e.resource_type} ${e.action} ${e.resource_id}` }) as Record<string, unknown>,
    );
  assert.deepEqual(
    told.map((d) => [d.on, d.change, d.credential_id, d.kind]),
    ['create', 'update', 'delete'].map((verb) => [`client update ${client.id}`, `credential.${verb}`, made.id, 'signature_hmac']),
  );
});
