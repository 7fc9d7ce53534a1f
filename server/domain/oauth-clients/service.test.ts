import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import { digest, mintClientId } from '#server/crypto/tokens.ts';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { expandScopes } from '#server/kernel/scopes.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { asPerson, enrolled, verified } from '#server/testing/step-up.ts';
import { tokenActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import * as operations from './operations.ts';
import { accessOf, grantOf } from './samples.fixture.ts';
import { CreateOAuthClient, RotateOAuthClientSecret, UpdateOAuthClient } from './schema.ts';
import * as clients from './service.ts';

await ownDatabase();

const create = (ctx: Ctx, input: object = {}) => clients.createClient(ctx, CreateOAuthClient.parse({ name: 'app', ...input }));
const update = (ctx: Ctx, id: string, input: object) => clients.updateClient(ctx, UpdateOAuthClient.parse({ id, ...input }));
const rotate = (ctx: Ctx, id: string, overlap_seconds = 0) =>
  clients.rotateSecret(ctx, RotateOAuthClientSecret.parse({ id, overlap_seconds }));
const machine = (w: Workspace, space: 'live' | 'test' = 'live') => w.ctx(space, tokenActor());
const narrowed = (w: Workspace, scopes: string[]) => w.ctx('live', { ...tokenActor(), capabilities: expandScopes(scopes) });
const after = (ctx: Ctx, ms: number): Ctx => ({ ...ctx, now: new Date(ctx.now.getTime() + ms) });

/** Whether the token endpoint would take a secret at this time. */
async function works(secret: string | null, at = new Date()) {
  const row = await db().oauth_client_secrets.findUnique({ where: { digest: new Uint8Array(digest(secret ?? '')) } });
  return row !== null && row.revoked_at === null && (row.expires_at === null || row.expires_at > at);
}
const alive = async (id: string) => (await db().oauth_access.findUniqueOrThrow({ where: { id } })).revoked_at === null;
const entries = async (w: Workspace) =>
  (await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } })).map(
    ({ action, resource_type, details }) => ({
      action,
      resource_type,
      details: details as Record<string, unknown>,
    }),
  );

describe('creating', () => {
  test('defaults: a confidential client of client_credentials with a secret, a public one of the browser login without', async () => {
    const ctx = machine(await workspace());
    const server = await create(ctx, { allowed_scopes: ['routes:write', 'routes:read', 'routes:read'] });
    assert.match(server.client_id, /^svc_client_[0-9A-Za-z]{20}$/);
    assert.match(server.client_secret ?? '', /^svcs_[0-9A-Za-z]{49}$/);
    assert.deepEqual(
      [server.type, server.grant_types, server.allowed_scopes],
      ['confidential', ['client_credentials'], ['routes:read', 'routes:write']],
    );
    const app = await create(ctx, { type: 'public', redirect_uris: ['HTTPS://App.Example.com:443', 'https://app.example.com/'] });
    assert.equal(app.client_secret, null);
    assert.deepEqual([app.grant_types, app.redirect_uris], [['authorization_code', 'refresh_token'], ['https://app.example.com/']]);
    const stored = await db().oauth_client_secrets.findMany({ where: { tenant_id: ctx.tenant_id } });
    assert.deepEqual(
      stored.map((row) => Buffer.from(row.digest)),
      [digest(server.client_secret ?? '')],
    );
    const audit = await db().audit_logs.findMany({ where: { tenant_id: ctx.tenant_id } });
    assert.ok(!JSON.stringify(audit, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('svcs_'));
  });

  test('a client without scopes is created with a warning', async () => {
    const ctx = machine(await workspace());
    assert.match((await create(ctx)).warning ?? '', /no allowed scopes/);
    assert.equal((await create(ctx, { allowed_scopes: ['routes:read'] })).warning, undefined);
    assert.match(
      (await create(ctx, { allowed_scopes: ['routes:read'], grant_types: ['client_credentials', 'refresh_token'] })).warning ?? '',
      /no effect/,
    );
  });

  const refused: [string, object, RegExp][] = [
    ['PKCE turned off', { require_pkce: false }, /require_pkce: must be true/],
    ['another token format', { token_format: 'jwt' }, /token_format: must be "opaque"/],
    ['an unknown grant', { grant_types: ['password'] }, /grant_types/],
    ['an unknown scope', { allowed_scopes: ['routes:read', 'everything'] }, /allowed_scopes.*unknown scope/],
    ['a code grant without redirect URI', { grant_types: ['authorization_code'] }, /requires at least one redirect URI/],
    ['a public client with client_credentials', { type: 'public', grant_types: ['client_credentials'] }, /can't use client_credentials/],
    [
      'a public client with token exchange',
      { type: 'public', grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange'] },
      /can't use urn:ietf:params:oauth:grant-type:token-exchange/,
    ],
    [
      'step-up scopes beyond the allowed ones',
      { allowed_scopes: ['routes:read'], step_up_scopes: ['routes:write'] },
      /routes:write is not among/,
    ],
    [
      'loopback on a confidential client',
      { redirect_uris: ['http://127.0.0.1/cb'] },
      /redirect_uris\.0: http on loopback is only for public clients/,
    ],
    [
      'a hostile redirect URI',
      { type: 'public', redirect_uris: ['https://ok.example/', 'http://127.0.0.1@evil.example/'] },
      /redirect_uris\.1/,
    ],
    ['21 redirect URIs', { redirect_uris: Array.from({ length: 21 }, (_, i) => `https://a${i}.example/`) }, /redirect_uris/],
  ];
  for (const [what, input, why] of refused)
    test(`refuses ${what} and writes nothing`, async () => {
      const w = await workspace();
      await assert.rejects(perform(operations.create, machine(w), { name: 'app', ...input }), (error: Error & { type: string }) => {
        assert.equal(error.type, 'validation_error');
        assert.match(error.message, why);
        return true;
      });
      assert.equal(await db().oauth_clients.count({ where: { tenant_id: w.tenant.id } }), 0);
    });

  test('nobody allows a client more than they hold: the refusal names the scope', async () => {
    const w = await workspace();
    const weak = narrowed(w, ['routes:read', 'oauth_clients:write', 'oauth_clients:read']);
    await assert.rejects(create(weak, { allowed_scopes: ['routes:read', 'secrets:write'] }), (error: Error & { type: string }) => {
      assert.equal(error.type, 'privilege_escalation');
      assert.match(error.message, /secrets:write/);
      return true;
    });
    await create(weak, { allowed_scopes: ['routes:read'] });
  });

  test('SCIM allows a client what the register lets it, and nothing else', async () => {
    const w = await workspace();
    const scim = w.ctx('live', { type: 'scim', id: newId(), prefix: 'scim_abc', label: 'Okta', capabilities: new Set() });
    const made = await create(scim, { allowed_scopes: ['routes:write'] });
    assert.ok(made.client_secret);
    await assert.rejects(create(scim, { allowed_scopes: ['transit:decrypt'] }), { type: 'validation_error' });
    assert.equal((await update(scim, made.id, { active: false })).active, false);
    assert.deepEqual(await clients.revokeClient(scim, { id: made.id }), { deleted: true, revoked: true });
    assert.deepEqual(new Set((await entries(w)).map(({ details }) => (details.actor as { type: string }).type)), new Set(['scim']));
  });
});

describe('changing', () => {
  test('narrowing drops step-up scopes that are no longer allowed, and the audit entry lists what changed', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const { id } = await create(ctx, { allowed_scopes: ['routes:read', 'routes:write'], step_up_scopes: ['routes:write'] });
    const changed = await update(ctx, id, { allowed_scopes: ['routes:read', 'secrets:read'] });
    assert.deepEqual([changed.allowed_scopes, changed.step_up_scopes], [['routes:read', 'secrets:read'], []]);
    const details = (await entries(w)).at(-1)?.details ?? {};
    assert.deepEqual([details.scopes_added, details.scopes_removed], [['secrets:read'], ['routes:write']]);
    await assert.rejects(update(ctx, id, { step_up_scopes: ['routes:write'] }), { type: 'validation_error' });
  });

  test('type and grants are fixed, but may be sent back as they are', async () => {
    const ctx = machine(await workspace());
    const { id } = await create(ctx);
    await update(ctx, id, {
      type: 'confidential',
      grant_types: ['client_credentials'],
      require_pkce: true,
      token_format: 'opaque',
      name: 'b',
    });
    await assert.rejects(update(ctx, id, { type: 'public' }), { type: 'validation_error' });
    await assert.rejects(update(ctx, id, { grant_types: ['authorization_code'] }), { type: 'validation_error' });
    for (const input of [{ require_pkce: false }, { token_format: 'jwt' }, {}])
      await assert.rejects(perform(operations.update, ctx, { id, ...input }), { type: 'validation_error' });
  });

  test('the last redirect URI of a client that sends people somewhere stays', async () => {
    const ctx = machine(await workspace());
    const { id } = await create(ctx, { type: 'public', redirect_uris: ['http://127.0.0.1:9000/cb'] });
    await assert.rejects(update(ctx, id, { redirect_uris: [] }), { type: 'validation_error' });
  });

  test('a caller can neither widen nor loosen a client that may do more than the caller', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const { id } = await create(ctx, {
      allowed_scopes: ['secrets:write'],
      step_up_scopes: ['secrets:write'],
      grant_types: ['authorization_code', 'client_credentials'],
      redirect_uris: ['https://app.example.com/'],
      require_dpop: true,
    });
    const weak = narrowed(w, ['routes:read', 'oauth_clients:write', 'oauth_clients:read']);
    const loosening = [
      { allowed_scopes: ['secrets:write', 'routes:read'] },
      { redirect_uris: ['https://evil.example/'] },
      { require_dpop: false },
      { step_up_scopes: [] },
      { consent_html_template: '<p>Allow</p>' },
    ];
    for (const input of loosening) await assert.rejects(update(weak, id, input), { type: 'privilege_escalation' }, JSON.stringify(input));
    await assert.rejects(rotate(weak, id), { type: 'privilege_escalation' });
    await assert.rejects(rotate(weak, id, 60), { type: 'privilege_escalation' });
    await update(weak, id, { name: 'renamed', active: false });
    await assert.rejects(update(weak, id, { active: true }), { type: 'privilege_escalation' });
    assert.deepEqual(await clients.revokeClient(weak, { id }), { deleted: true, revoked: true });
  });

  test('a person confirms what widens a client, and nothing else', async () => {
    const w = await workspace();
    const { id } = await create(machine(w), { allowed_scopes: ['routes:read', 'secrets:read'] });
    const owner = w.member('owner');
    const call = (input: object) => perform(operations.update, { ...owner, warnings: [] }, { id, ...input });
    await call({ name: 'renamed' });
    await call({ allowed_scopes: ['routes:read'] });
    await call({ active: false });
    await assert.rejects(call({ active: true }), { type: 'mfa_required' });
    await enrolled((await asPerson(owner)).user_id);
    for (const input of [
      { active: true },
      { allowed_scopes: ['routes:read', 'routes:write'] },
      { redirect_uris: ['https://app.example.com/'] },
    ]) {
      await assert.rejects(call(input), { type: 'step_up_required' });
      await verified(owner, 'oauth.client');
      await call(input);
    }
    await call({ allowed_scopes: [] });
  });

  test('turning a client off ends its tokens and grants; turning it on again brings none of them back', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const { id, client_secret } = await create(ctx, { allowed_scopes: ['routes:read'] });
    const own = await accessOf(ctx, id);
    const { access, family } = await grantOf(ctx, id);
    await update(ctx, id, { active: false, name: 'off' });
    await update(ctx, id, { active: true });
    assert.deepEqual([await alive(own.id), await alive(access.id), await works(client_secret)], [false, false, true]);
    assert.equal((await db().oauth_families.findUniqueOrThrow({ where: { id: family.id } })).revoked_reason, 'client_disabled');
    const written = (await entries(w)).map(({ action }) => action);
    assert.deepEqual(written, ['create', 'update', 'disable', 'enable']);
  });
});

describe('rotating the secret', () => {
  test('without an overlap the old secret and every token that it obtained are dead, and workloads go on', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const { id, client_secret: old } = await create(ctx, { allowed_scopes: ['routes:read'] });
    const [other, own, workload] = [
      await create(ctx),
      await accessOf(ctx, id),
      await accessOf(ctx, id, { kind: 'workload', binding_id: newId() }),
    ];
    const foreign = await accessOf(ctx, other.id);
    const { access, family } = await grantOf(ctx, id);
    const { client_secret, warning, previous_secret_expires_at } = await rotate(ctx, id);
    assert.match(warning, /no longer works/);
    assert.equal(previous_secret_expires_at, null);
    assert.deepEqual([await works(old), await works(client_secret), await works(other.client_secret)], [false, true, true]);
    assert.deepEqual(
      [await alive(own.id), await alive(access.id), await alive(workload.id), await alive(foreign.id)],
      [false, false, true, true],
    );
    const refresh = await db().oauth_refresh.findFirstOrThrow({ where: { family_id: family.id } });
    assert.ok(refresh.revoked_at);
    assert.deepEqual((await entries(w)).at(-1)?.details.tokens_revoked, 2);
  });

  test('if the tokens cannot be revoked, the rotation is refused and the old secret and tokens stay alive', async () => {
    const ctx = machine(await workspace());
    const { id, client_secret: old } = await create(ctx);
    const own = await accessOf(ctx, id);
    await sql().query(
      `create function refuse_revocation() returns trigger language plpgsql as $$ begin raise exception 'disk full'; end $$`,
    );
    await sql().query(
      `create trigger refuse_revocation before update on oauth_access for each row when (old.id = '${own.id}') execute function refuse_revocation()`,
    );
    try {
      await assert.rejects(rotate(ctx, id));
      assert.deepEqual([await works(old), await alive(own.id)], [true, true]);
      assert.equal(await db().oauth_client_secrets.count({ where: { client_row_id: id } }), 1);
    } finally {
      await sql().query('drop trigger refuse_revocation on oauth_access; drop function refuse_revocation');
    }
  });

  test('with an overlap the old secret works until it ends and tokens live on; never more than two secrets work', async () => {
    const ctx = machine(await workspace());
    const { id, client_secret: first } = await create(ctx);
    const own = await accessOf(ctx, id);
    const second = await rotate(after(ctx, 1000), id, 3600);
    const ends = second.previous_secret_expires_at as Date;
    assert.equal(ends.getTime(), ctx.now.getTime() + 3_601_000);
    assert.deepEqual(
      [await works(first), await works(first, ends), await works(second.client_secret), await alive(own.id)],
      [true, false, true, true],
    );
    const shown = await clients.getClient(ctx, { id });
    assert.deepEqual(shown.previous_secret_expires_at, ends);
    const third = await rotate(after(ctx, 2000), id, 60);
    assert.deepEqual([await works(first), await works(second.client_secret), await works(third.client_secret)], [false, true, true]);
    const fourth = await rotate(after(ctx, 3000), id);
    assert.deepEqual(
      [await works(second.client_secret), await works(third.client_secret), await works(fourth.client_secret)],
      [false, false, true],
    );
    assert.equal(await alive(own.id), false);
    await assert.rejects(perform(operations.rotateSecret, ctx, { id, overlap_seconds: 86_401 }), { type: 'validation_error' });
  });

  test('of two rotations at once the later secret wins, and a revocation beside them leaves none', async () => {
    const ctx = machine(await workspace());
    const { id } = await create(ctx);
    const rotated = await Promise.all([rotate(ctx, id), rotate(ctx, id)]);
    const working = await Promise.all(rotated.map(({ client_secret }) => works(client_secret)));
    assert.deepEqual([...working].sort(), [false, true]);
    const [late] = await Promise.all([rotate(ctx, id).catch((error: { type: string }) => error.type), clients.revokeClient(ctx, { id })]);
    assert.ok(late === 'conflict' || !(await works((late as { client_secret: string }).client_secret)));
  });

  test('a public client has no secret to rotate', async () => {
    const ctx = machine(await workspace());
    const { id } = await create(ctx, { type: 'public', redirect_uris: ['https://app.example.com/'] });
    await assert.rejects(rotate(ctx, id), { type: 'validation_error', status: 400 });
  });
});

describe('revoking', () => {
  test('ends secrets, tokens and grants at once; the row stays listed, and nothing brings it back', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const { id, client_id, client_secret } = await create(ctx);
    const own = await accessOf(ctx, id);
    await clients.revokeClient(ctx, { id: client_id });
    assert.deepEqual(await clients.revokeClient(ctx, { id }), { deleted: true, revoked: true });
    assert.deepEqual([await works(client_secret), await alive(own.id)], [false, false]);
    const row = (await clients.listClients(ctx, {})).find((one) => one.id === id);
    assert.ok(row?.revoked_at && !row.active);
    for (const attempt of [() => update(ctx, id, { active: true }), () => update(ctx, id, { name: 'x' }), () => rotate(ctx, id)])
      await assert.rejects(attempt(), { type: 'conflict', status: 409 });
    assert.equal((await entries(w)).filter(({ action }) => action === 'revoke').length, 1);
  });
});

describe('clients that something else manages', () => {
  test('every API key is a read-only client with the scopes of its roles, and follows the key', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const { row: key } = await w.key('live', 'Key - Invoke');
    const client = await clients.getClient(ctx, { id: key.key_id });
    assert.deepEqual([client.source_api_key_id, client.source_key_type, client.grant_types], [key.id, 'standard', ['client_credentials']]);
    assert.deepEqual(client.allowed_scopes, ['account:read', 'proxy:invoke', 'routes:read']);
    for (const attempt of [
      () => update(ctx, client.id, { name: 'x' }),
      () => rotate(ctx, client.id),
      () => clients.revokeClient(ctx, client),
    ])
      await assert.rejects(attempt(), (error: Error & { type: string; status: number }) => {
        assert.deepEqual([error.type, error.status], ['conflict', 409]);
        assert.match(error.message, /managed by the API key/);
        return true;
      });
    await db().api_keys.update({ where: { id: key.id }, data: { expires_at: new Date(Date.now() - 1000) } });
    assert.equal((await clients.getClient(ctx, client)).active, false);
    await db().api_keys.update({ where: { id: key.id }, data: { active: false, revoked_at: new Date() } });
    assert.ok((await clients.getClient(ctx, client)).revoked_at);
  });

  test('the client of service-cli is shown and protected', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const id = newId();
    await db().oauth_clients.create({
      data: {
        id,
        tenant_id: w.tenant.id,
        sandbox: false,
        client_id: mintClientId('cli'),
        name: 'Service CLI',
        type: 'public',
        system_role: 'cli',
      },
    });
    assert.equal((await clients.getClient(ctx, { id })).system_role, 'cli');
    const scim = w.ctx('live', { type: 'scim', id: newId(), prefix: 'scim_abc', label: 'Okta', capabilities: new Set() });
    for (const caller of [ctx, scim])
      for (const attempt of [
        () => update(caller, id, { active: false }),
        () => rotate(caller, id),
        () => clients.revokeClient(caller, { id }),
      ])
        await assert.rejects(attempt(), { type: 'system_client_protected', status: 403 });
  });

  test('neither counts towards the plan, and a revoked client makes room', async () => {
    const w = await workspace({ plan: 'free' });
    const ctx = machine(w);
    for (let n = 0; n < 4; n++) await w.key();
    const made = await Promise.all([1, 2, 3].map(() => create(ctx)));
    await assert.rejects(create(ctx), (error: Error & { type: string; status: number }) => {
      assert.deepEqual([error.type, error.status], ['plan_limit', 402]);
      assert.match(error.message, /3 OAuth clients/);
      return true;
    });
    await create(machine(w, 'test'));
    await clients.revokeClient(ctx, { id: made[0]?.id ?? '' });
    await create(ctx);
    const raced = await Promise.allSettled([create(ctx), create(ctx)]);
    assert.deepEqual(
      raced.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });
});

describe('grants', () => {
  test('list who granted what, and revoking one ends its tokens and its remembered consent', async () => {
    const w = await workspace();
    const ctx = machine(w);
    const { id } = await create(ctx, { allowed_scopes: ['routes:read'] });
    const [one, two] = [await grantOf(ctx, id), await grantOf(ctx, id)];
    const own = { tenant_id: w.tenant.id, sandbox: false };
    await db().oauth_consents.create({
      data: {
        ...own,
        id: newId(),
        client_row_id: id,
        user_id: one.user_id,
        scopes: ['routes:read'],
        expires_at: new Date(Date.now() + 1000),
      },
    });
    assert.deepEqual(new Set((await clients.listGrants(ctx, { id })).map(({ user }) => user.id)), new Set([one.user_id, two.user_id]));
    assert.deepEqual(await clients.revokeGrant(ctx, { id, grant_id: one.family.id }), { deleted: true });
    assert.deepEqual([await alive(one.access.id), await alive(two.access.id)], [false, true]);
    assert.equal(await db().oauth_consents.count({ where: own }), 0);
    assert.deepEqual(
      (await clients.listGrants(ctx, { id })).map((grant) => grant.id),
      [two.family.id],
    );
    const last = (await entries(w)).at(-1);
    assert.deepEqual([last?.action, last?.resource_type], ['revoke', 'oauth_grant']);
    const other = await create(ctx);
    for (const ref of [
      { id, grant_id: one.family.id },
      { id: other.id, grant_id: two.family.id },
      { id, grant_id: 'nonsense' },
    ])
      await assert.rejects(clients.revokeGrant(ctx, ref), { type: 'not_found' });
  });
});

test('the Owners are told of a client that a machine created and of every new secret, and the mail never shows one', async () => {
  const w = await workspace();
  const email = `owner-${newId()}@example.test`;
  await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email, full_name: 'Owner', password_hash: null, email_verified: true, now: new Date() });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role: 'owner', source: 'invite', now: new Date() });
  });
  await create(w.member('owner'), { name: 'by a person' });
  const { id, client_id } = await create(machine(w), { name: 'by a machine' });
  await rotate(w.member('owner'), id, 60);
  await backgroundSettled();
  const mails = await db().mails.findMany({ where: { recipient: email }, orderBy: { created_at: 'asc' } });
  assert.deepEqual(
    mails.map(({ kind }) => kind),
    ['oauth_client_made', 'oauth_client_rotated'],
  );
  for (const { subject, text } of mails) {
    assert.ok(text.includes(client_id) && text.includes(`/oauth-clients/${id}`), text);
    assert.doesNotMatch(`${subject}${text}`, /svcs_/);
  }
});
