import assert from 'node:assert/strict';
import test from 'node:test';
import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import type { Actor, Space } from '#server/kernel/context.ts';
import { byAnotherKey, TestIssuer } from '#server/platform/connect/issuer.fixture.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { memberActor, tokenActor, type Workspace, workspace } from '#server/testing/workspace.ts';

await ownDatabase();

const github = { provider: 'github_actions', subject: 'repo:acme/app:ref:refs/heads/main', scopes: ['routes:read'] };

async function client(w: Workspace, more: object = {}, space: Space = 'live') {
  const input = {
    name: fresh('pipeline'),
    grant_types: [TOKEN_EXCHANGE],
    allowed_scopes: ['routes:read', 'routes:write', 'pki:issue'],
    ...more,
  };
  const id: string = (await made({ ...w.ctx(space), actor: tokenActor() }, 'oauth_clients.create', input)).id;
  const ctx = () => ({ ...w.ctx(space), actor: tokenActor() });
  return {
    id,
    ctx,
    create: (input: object = {}) => made(ctx(), 'trust_bindings.create', { id, name: 'Deploy', ...github, ...input }),
    update: (binding_id: string, input: object) => made(ctx(), 'trust_bindings.update', { id, binding_id, ...input }),
  };
}
const auditOf = async (w: Workspace) =>
  (await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'trust_binding' }, orderBy: { seq: 'asc' } })).map(
    ({ action, details }) => ({ action, ...(details as Record<string, unknown>) }),
  );

test('what is left out is preset by the provider', async () => {
  const { create } = await client(await workspace());
  const { id, created_at, updated_at, ...binding } = await create();
  assert.deepEqual(binding, {
    ...{ name: 'Deploy', ...github, issuer: 'https://token.actions.githubusercontent.com', audience: 'service:api', claims: {} },
    ...{ ttl_seconds: 3600, single_use: true, enabled: true, use_count: 0, last_used_at: null },
  });
  const gitlab = await create({ provider: 'gitlab', subject: null, claims: { '["project_path"]': ['acme/app', 'acme/app'] } });
  assert.deepEqual([gitlab.issuer, gitlab.single_use, gitlab.claims], ['https://gitlab.com', false, { project_path: 'acme/app' }]);
});

test('a binding that trusts too much, an issuer that cannot be one, or a claim that is no condition is refused with the field', async () => {
  const { create } = await client(await workspace());
  const cases: [object, RegExp][] = [
    [{ subject: 'repo:acme/*' }, /^subject: must say literally/],
    [{ subject: undefined }, /^claims: must say literally/],
    [{ provider: 'custom', issuer: 'https://token.actions.githubusercontent.com' }, /^issuer: is the issuer of GitHub Actions/],
    [{ provider: 'kubernetes' }, /^issuer: is required/],
    [{ provider: 'kubernetes', issuer: 'https://10.0.0.1' }, /^issuer: /],
    [{ provider: 'kubernetes', issuer: 'https://169.254.169.254' }, /^issuer: /],
    [{ provider: 'kubernetes', issuer: 'http://issuer.example.com' }, /^issuer: must use https/],
    [{ provider: 'kubernetes', issuer: 'https://issuer.example.com/' }, /^issuer: must not end in a slash/],
    [{ provider: 'kubernetes', issuer: 'https://issuer.example.com?a' }, /^issuer: must have no query/],
    [{ provider: 'custom', issuer: 'https://{{var:a}}.example.com' }, /^issuer: /],
    [{ claims: { sub: 'x' } }, /^claims: sub has a field of its own/],
    [{ claims: { '["exp"]': 'x' } }, /^claims: exp is checked/],
    [{ claims: { ref: 'a', '["ref"]': 'b' } }, /^claims: ref is named twice/],
    [{ claims: { ref: '**' } }, /wildcards only/],
    [{ claims: { 'a b': 'x' } }, /must name a claim/],
    [{ claims: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`c${i}`, 'x'])) }, /at most 16 claims/],
    [{ claims: { a: Array.from({ length: 6 }, (_, i) => `*${'x'.repeat(200)}${i}`) } }, /at most 1,024 characters/],
    [{ scopes: [] }, /^scopes: must name at least one/],
    [{ scopes: ['clients:read'] }, /^scopes: the client isn't allowed clients:read/],
    [{ ttl_seconds: 299 }, /^ttl_seconds/],
    [{ ttl_seconds: 3601 }, /^ttl_seconds/],
  ];
  for (const [input, message] of cases) await assert.rejects(create(input), { type: 'validation_error', message }, JSON.stringify(input));
});

test('scopes that no person may carry are allowed here, with a warning', async () => {
  const { id, ctx } = await client(await workspace());
  const at = ctx();
  await made(at, 'trust_bindings.create', { id, name: 'Issue', ...github, scopes: ['pki:issue'] });
  assert.ok(
    at.warnings.some((warning) => warning.includes('pki:issue')),
    at.warnings.join(),
  );
});

test('nobody gives a binding, or points one elsewhere, with more than they hold themselves', async () => {
  const w = await workspace();
  const { id, create } = await client(w);
  const narrow: Actor = {
    ...(tokenActor() as Extract<Actor, { type: 'oauth_token' }>),
    capabilities: new Set(['oauth_client:update', 'route:list', 'route:read']),
  };
  const as = (operation: string, input: object) => made({ ...w.live, actor: narrow }, operation, { id, ...input });
  await as('trust_bindings.create', { name: 'Read', ...github });
  await assert.rejects(as('trust_bindings.create', { name: 'Write', ...github, scopes: ['routes:write'] }), {
    type: 'privilege_escalation',
    message: /route:create/,
  });
  const strong = await create({ scopes: ['routes:write'] });
  const edit = (input: object) => as('trust_bindings.update', { binding_id: strong.id, ...input });
  for (const input of [
    { subject: 'repo:mine/app:**' },
    { issuer: 'https://token.actions.githubusercontent.com/mine' },
    { audience: 'mine' },
    { single_use: false },
  ])
    await assert.rejects(edit(input), { type: 'privilege_escalation' }, JSON.stringify(input));
  await edit({ name: 'Renamed' });
  await edit({ enabled: false });
  await assert.rejects(edit({ enabled: true }), { type: 'privilege_escalation' });
  await edit({ scopes: ['routes:read'] });
});

test('a client without the grant, a mirrored key, a revoked client and the twenty-first binding are refused', async () => {
  const w = await workspace();
  const plain = await client(w, { grant_types: ['client_credentials'] });
  await assert.rejects(plain.create(), { type: 'conflict', message: /grant/ });
  const { row } = await w.key();
  await assert.rejects(made(plain.ctx(), 'trust_bindings.create', { id: row.key_id, name: 'x', ...github }), { type: 'conflict' });
  const one = await client(w);
  for (let i = 0; i < 20; i++) await one.create({ name: `binding ${i}` });
  await assert.rejects(one.create(), { type: 'conflict', message: /at most 20/ });
  const [newest] = await made(one.ctx(), 'trust_bindings.list', { id: one.id });
  assert.equal(newest.name, 'binding 19');
  await made(one.ctx(), 'oauth_clients.revoke', { id: one.id });
  await assert.rejects(one.update(newest.id, { name: 'x' }), { type: 'conflict' });
  await made(one.ctx(), 'trust_bindings.delete', { id: one.id, binding_id: newest.id });
});

test('a binding is found under its own client only, in its own space', async () => {
  const w = await workspace();
  const [one, other, inTest] = [await client(w), await client(w), await client(w, {}, 'test')];
  const { id } = await one.create();
  for (const holder of [other, inTest])
    for (const operation of ['get', 'delete', 'update'])
      await assert.rejects(
        made(holder.ctx(), `trust_bindings.${operation}`, {
          id: holder.id,
          binding_id: id,
          ...(operation === 'update' ? { name: 'x' } : {}),
        }),
        {
          type: 'not_found',
        },
      );
  assert.equal((await made(one.ctx(), 'trust_bindings.get', { id: one.id, binding_id: id })).id, id);
});

test('a person confirms what widens trust, not what ends it', async () => {
  const w = await workspace();
  const one = await client(w);
  const owner = () => ({ ...w.live, actor: memberActor('owner') });
  const binding = await one.create();
  const at = { id: one.id, binding_id: binding.id };
  const unconfirmed = { type: 'mfa_required' };
  await assert.rejects(made(owner(), 'trust_bindings.create', { id: one.id, name: 'x', ...github }), unconfirmed);
  await assert.rejects(made(owner(), 'trust_bindings.update', { ...at, subject: 'repo:acme/app:**' }), unconfirmed);
  await made(owner(), 'trust_bindings.update', { ...at, name: 'Renamed' });
  await made(owner(), 'trust_bindings.update', { ...at, enabled: false });
  await assert.rejects(made(owner(), 'trust_bindings.update', { ...at, enabled: true }), unconfirmed);
  const confirmed = owner();
  await verified(confirmed, 'oauth.client');
  await made(confirmed, 'trust_bindings.update', { ...at, enabled: true });
  await made(owner(), 'trust_bindings.delete', at);
  assert.deepEqual(
    (await auditOf(w)).map(({ action }) => action),
    ['create', 'update', 'disable', 'enable', 'delete'],
  );
});

test('a dry run says which conditions hold, verifies the signature, and leaves no trace', async () => {
  const w = await workspace();
  const issuer = await TestIssuer.start();
  const { id, create, ctx, update } = await client(w);
  const main = await create({ issuer: issuer.issuer, subject: 'repo:acme/app:ref:refs/heads/main', claims: { environment: 'production' } });
  const any = await create({ name: 'Any branch', issuer: issuer.issuer, subject: 'repo:acme/app:**' });
  const run = (subject_token: string) => made(ctx(), 'trust_bindings.test', { id, subject_token });
  const before = [await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), await db().oauth_assertion_uses.count()];

  const token = await issuer.token();
  const answer = await run(token);
  assert.deepEqual([answer.accepted, answer.binding_id, answer.problem, answer.signature_valid], [true, any.id, null, true]);
  assert.deepEqual(
    [answer.issuer, answer.subject, answer.audiences],
    [issuer.issuer, 'repo:acme/app:ref:refs/heads/main', ['service:api']],
  );
  const conditions = answer.bindings.find((one: { binding_id: string }) => one.binding_id === main.id).conditions;
  assert.deepEqual(
    conditions.map(({ claim, matches }: { claim: string; matches: boolean }) => [claim, matches]),
    [
      ['iss', true],
      ['aud', true],
      ['sub', true],
      ['environment', false],
    ],
  );
  assert.ok(!JSON.stringify(answer).includes(token.split('.')[2] as string));
  assert.equal((await run(token)).accepted, true, 'nothing was used up');

  const outcome = async (text: string) => {
    const { accepted, problem, signature_valid, bindings } = await run(text);
    assert.equal(accepted, false);
    return [signature_valid, problem, bindings.some(({ matches }: { matches: boolean }) => matches)];
  };
  const forged = await outcome(await byAnotherKey(issuer.claims(), issuer.key));
  assert.deepEqual([forged[0], forged[2]], [false, true]);
  assert.deepEqual(await outcome(await issuer.token({ exp: 1_000, iat: 900 })), [true, 'The token has expired.', true]);
  assert.deepEqual((await outcome('nonsense'))[0], null);
  const stranger = await TestIssuer.start();
  assert.match(String((await outcome(await stranger.token()))[1]), /No binding of this client/);
  assert.deepEqual(stranger.asked, { configuration: 0, keys: 0 });
  await update(any.id, { enabled: false });
  assert.deepEqual(
    [(await run(token)).accepted, (await run(token)).problem],
    [false, null],
    'a disabled binding shows its conditions and accepts nothing',
  );
  const after = [await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), await db().oauth_assertion_uses.count()];
  assert.deepEqual([after[0] === (before[0] ?? 0) + 1, after[1]], [true, before[1]], 'only disabling the binding was audited');
});
