import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startTlsUpstream } from '../ephemeral/ephemeral.fixture.ts';
import { type Ask, ask, makeRoute, makeSecret, served, startGateway } from '../gateway.fixture.ts';
import { shareSecret } from '../shared-secrets.fixture.ts';

// Interface rule 30 §20, numbers 5, 6, 8 and 9, through a real gateway to real upstreams. The others: 1 in domain/secrets/operations.test.ts and over everything
// there is in e2e/canary.spec.ts, 2 and 7 in injection.test.ts, 3 in domain/secrets/service.test.ts, 4 in ../connections.test.ts.

await testDatabase();
const running = await startGateway();
const HOST = 'api.pinned.example';
const OTHER = 'other.pinned.example';
const VALUE = 'pinned-value-of-the-test';
const upstream = await startTlsUpstream([HOST, OTHER], (req, res) => {
  if (req.url?.includes('redirect')) return void res.writeHead(302, { location: `https://${OTHER}/stolen` }).end();
  res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
});
const w = await workspace();
const { text: key } = await w.key();
const scope = { tenant_id: w.tenant.id, sandbox: false };

let n = 0;
async function through(target: string, inject: Record<string, string>, call: Ask & { path?: string; collectionId?: string } = {}) {
  const slug = `m${n++}`;
  await makeRoute(w, slug, target, { inject_headers_json: inject }, call.collectionId ? { collectionId: call.collectionId } : {});
  await served(running, w);
  const before = upstream.seen.length;
  const answer = await ask(running.port, w.tenant.slug, `/${slug}${call.path ?? ''}`, { key, ...call });
  return { answer, code: answer.headers['x-svc-error'], seen: upstream.seen.slice(before) };
}
const sentTo = (seen: typeof upstream.seen, value: string) =>
  seen.filter((one) => JSON.stringify([one.url, one.rawHeaders, one.body]).includes(value)).map(({ headers }) => headers.host);

test('5: a share that is revoked under traffic is refused on the next call, and its value is sent no more', async () => {
  const { owner, recipient, secret, share } = await shareSecret({ production: VALUE });
  await makeRoute(recipient, 'shared', `https://${OTHER}`, { inject_headers_json: { 'X-Shared': '{{secret:ALIAS}}' } });
  const { text: theirs } = await recipient.key();
  await served(running, recipient);
  const call = () => ask(running.port, recipient.tenant.slug, '/shared', { key: theirs });
  let over = false;
  const codes = new Set<string>();
  const callers = Array.from({ length: 8 }, async () => {
    while (!over) {
      const answer = await call();
      codes.add(`${answer.status} ${answer.headers['x-svc-error'] ?? ''}`.trim());
    }
  });
  await until(() => codes.size > 0);
  await made(owner.member('owner'), 'secret_shares.revoke', { id: secret.id, shareId: share.id });
  await served(running, recipient);
  const after = await Promise.all(Array.from({ length: 20 }, call));
  over = true;
  await Promise.all(callers);
  assert.deepEqual(new Set(after.map(({ status, headers }) => `${status} ${headers['x-svc-error']}`)), new Set(['424 share_revoked']));
  assert.deepEqual([...codes].sort(), ['200', '424 share_revoked'], 'nothing in between but the one and the other');
  const sent = upstream.seen.length;
  for (const answer of await Promise.all(Array.from({ length: 20 }, call))) assert.doesNotMatch(answer.body, new RegExp(VALUE));
  assert.equal(upstream.seen.length, sent);
});

test('6: a pinned secret is never sent to another host, by redirect, variable, environment override, trailing dot, upper case or host:port', async () => {
  await makeSecret(w, 'PINNED', { production: VALUE }, { allowed_hosts: [HOST] });
  const inject = { Authorization: 'Bearer {{secret:PINNED}}' };
  const good = await through(`https://${HOST}`, inject);
  assert.deepEqual([good.answer.status, good.seen[0]?.headers.authorization], [200, `Bearer ${VALUE}`], good.answer.body);

  const collection = await db().collections.create({ data: { id: newId(), ...scope, name: 'Hosts', slug: 'hosts' } });
  await db().collection_variables.create({ data: { id: newId(), ...scope, collection_id: collection.id, key: 'host', value: OTHER } });
  for (const [what, target, collectionId] of [
    ['another host', `https://${OTHER}`, undefined],
    ['a variable', 'https://{{var:host}}', collection.id],
    ['a trailing dot', `https://${OTHER}.`, undefined],
    ['upper case', `https://${OTHER.toUpperCase()}`, undefined],
    ['a port', `https://${HOST}:8443`, undefined],
    ['no encryption', `http://${HOST}`, undefined],
    ['a prefix', `https://${HOST}.${OTHER}`, undefined],
    ['user information', `https://${HOST}@${OTHER}`, undefined],
  ] as const) {
    const { answer, seen } = await through(target, inject, collectionId ? { collectionId } : {});
    assert.ok(answer.status >= 400, `${what}: ${answer.status}`);
    assert.deepEqual(seen, [], what);
  }
  // The same host in another spelling is the same host, or is refused.
  for (const target of [`https://${HOST.toUpperCase()}`, `https://${HOST}.`, `https://${HOST}:443`])
    assert.deepEqual(
      new Set([...sentTo((await through(target, inject)).seen, VALUE).map((host) => String(host).toLowerCase()), HOST]),
      new Set([HOST]),
      target,
    );
  const staging = (await made(w.live, 'environments.create', { name: 'staging', display_name: 'Staging' })) as { id: string };
  const base = await db().route_environment_configs.findFirstOrThrow({ where: { ...scope, route: { slug: 'm0' } } });
  const { id: _, created_at: __, updated_at: ___, ...settings } = base;
  const override = { is_base: false, environment_id: staging.id, environment_name: 'staging', overridden_fields: ['target_base_url'] };
  await db().route_environment_configs.create({
    data: { ...settings, id: newId(), ...override, target_base_url: `https://${OTHER}` } as never,
  });
  await db().secret_environments.updateMany({ where: { ...scope, secret: { name: 'PINNED' } }, data: { environment_name: 'staging' } });
  await served(running, w);
  const sent = upstream.seen.length;
  const overridden = await ask(running.port, w.tenant.slug, '/m0', { key, headers: { 'x-svc-environment': 'staging' } });
  assert.deepEqual([overridden.headers['x-svc-error'], upstream.seen.length], ['secret_host_not_allowed', sent], 'an environment override');
  await db().secret_environments.updateMany({ where: { ...scope, secret: { name: 'PINNED' } }, data: { environment_name: 'production' } });
  await served(running, w);
  const redirected = await through(`https://${HOST}`, inject, { path: '/redirect' });
  assert.deepEqual(sentTo(redirected.seen, VALUE), [HOST], 'nobody follows the redirect with the secret');
  assert.equal(redirected.answer.status, 302);
});

test('8: a value with a line break never becomes a header, and nothing is sent', async () => {
  for (const [name, value] of [
    ['CRLF', 'a\r\nX-Evil: 1'],
    ['LF', 'a\nX-Evil: 1'],
    ['CR', 'a\rX-Evil: 1'],
  ] as const) {
    await makeSecret(w, name, { production: value });
    const { answer, seen } = await through(`https://${OTHER}`, { 'X-Injected': `{{secret:${name}}}` });
    assert.equal(answer.status, 424, name);
    assert.doesNotMatch(answer.body, /X-Evil/);
    assert.deepEqual(seen, [], name);
  }
});

test('9: a call of Live resolves no secret of Test, and is answered as if there were none', async () => {
  const { id } = await made(w.ctx('test'), 'secrets.create', { name: 'ONLY_TEST', value: 'value-of-the-test-space' });
  const unknown = await through(`https://${OTHER}`, { 'X-Injected': '{{secret:NOT_THERE}}' });
  for (const text of ['{{secret:ONLY_TEST}}', `{{secret_id:${id}}}`]) {
    const { answer, code, seen } = await through(`https://${OTHER}`, { 'X-Injected': text });
    assert.deepEqual([answer.status, code], [unknown.answer.status, unknown.code], text);
    assert.deepEqual(seen, [], text);
    assert.doesNotMatch(answer.body, /value-of-the-test-space/);
  }
  assert.equal(unknown.code, 'secret_not_found');
});
