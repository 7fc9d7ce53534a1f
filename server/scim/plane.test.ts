import assert from 'node:assert/strict';
import test from 'node:test';
import { mintToken } from '#server/crypto/tokens.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { workspace } from '#server/testing/workspace.ts';
import { BUDGET, shieldFromFlood, takeBudget } from './budget.ts';
import { ask, client, credential, directory, person } from './scim.fixture.ts';

await ownDatabase();

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

test('a host without SCIM answers the same bytes whatever the credential, and a workspace serves its own credentials only', async () => {
  const a = await directory();
  const b = await directory();
  const own = a.live_credential.token;
  const nowhere = `{"schemas":["${ERROR}"],"status":"404"}`;
  for (const token of [null, own, 'scim_x']) {
    const unknown = await ask('GET', '/Users', token, undefined, { host: 'no-such-workspace' });
    assert.deepEqual([unknown.status, unknown.text], [404, nowhere]);
    const sandbox = await ask('GET', '/Users', token, undefined, { host: a.tenant.slug, headers: { 'x-sallyport-space': 'test' } });
    assert.deepEqual([sandbox.status, sandbox.text], [404, nowhere]);
    const api = await ask('GET', '/Users', token, undefined, { headers: { 'x-sallyport-plane': 'api' } });
    assert.deepEqual([api.status, api.text], [404, nowhere]);
  }
  assert.equal((await ask('GET', '/Users', own)).status, 200, 'the admin host');
  assert.equal((await ask('GET', '/Users', own, undefined, { host: a.tenant.slug })).status, 200);
  const foreign = await ask('GET', '/Users', own, undefined, { host: b.tenant.slug });
  const wrong = await ask('GET', '/Users', mintToken('scim').token, undefined, { host: b.tenant.slug });
  assert.deepEqual([foreign.status, foreign.text], [401, wrong.text]);
  assert.equal(foreign.headers.get('www-authenticate'), 'Bearer realm="scim"');
});

test('the order of checks: path and method before the credential, the credential before everything else', async () => {
  const { scim, tenant } = await directory();
  for (const path of ['/Groups', '/Bulk', '/Me', '/.search', '/Users/a/b', '', '/users', '/ServiceProviderConfig/x']) {
    const answer = await ask('GET', path, null);
    assert.deepEqual([answer.status, answer.text], [404, `{"schemas":["${ERROR}"],"status":"404"}`], path);
  }
  const method = await ask('DELETE', '/Users', null);
  assert.deepEqual([method.status, method.headers.get('allow')], [405, 'GET, POST']);
  assert.equal((await ask('POST', '/Schemas', null)).status, 405);
  const anonymous = await ask('POST', '/Users', null, undefined, { raw: 'x'.repeat(2_000_000), headers: { 'content-type': 'text/plain' } });
  assert.equal(anonymous.status, 401);
  assert.equal(anonymous.headers.get('content-type'), 'application/scim+json; charset=utf-8');
  const plain = { headers: { 'content-type': 'text/plain' } };
  assert.equal((await scim.post('/Users', {}, plain)).status, 415);
  assert.equal(
    (
      await ask('POST', '/Users', scim.token, undefined, {
        raw: `"${'x'.repeat(1_100_000)}"`,
        headers: { 'content-type': 'application/json' },
      })
    ).status,
    413,
  );
  for (const raw of ['', '[]', '"x"', '{', '{"a":1} x']) {
    const answer = await ask('POST', '/Users', scim.token, undefined, {
      raw,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    assert.deepEqual([answer.status, answer.body.scimType, answer.body.status], [400, 'invalidSyntax', '400'], raw);
  }
  await db().tenants.update({ where: { id: tenant.id }, data: { deleted_at: new Date() } });
  assert.equal((await scim.get('/Users')).status, 401, 'a deleted workspace');
});

test('one answer for every credential that is none, and a revoked one is refused on its next call', async () => {
  const w = await directory();
  const ended = await credential(w, 'live', new Date(Date.now() - 1_000));
  const key = (await w.key('live')).text;
  const good = await credential(w);
  const { token } = good;
  const presented = [
    null,
    '',
    'scim_',
    ended.token,
    `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
    token.toUpperCase(),
    key,
    mintToken('scim').token,
  ];
  const answers = await Promise.all(presented.map((one) => ask('GET', '/ServiceProviderConfig', one)));
  assert.deepEqual([...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length, 1, answers.map(({ text }) => text).join());
  assert.equal(answers[0]?.status, 401);
  assert.equal((await client(token).get('/Users')).status, 200);
  await db().scim_credentials.update({ where: { id: good.id }, data: { revoked_at: new Date() } });
  assert.equal((await client(token).get('/Users')).status, 401);
});

test('the plan gates resources and nothing else, and only the deliberate end of Enterprise counts', async () => {
  const plans = [
    ['enterprise', { subscription_plan: 'enterprise', subscription_status: 'active' }, 200],
    ['dunning', { subscription_plan: 'enterprise', subscription_status: 'dunning' }, 200],
    ['past due', { subscription_plan: 'enterprise', subscription_status: 'past_due' }, 200],
    ['lapsed', { subscription_plan: 'enterprise', subscription_status: 'cancelled' }, 200],
    ['ended by its Owner', { subscription_plan: 'enterprise', subscription_status: 'cancelled', enterprise_ended_by: 'owner' }, 403],
    ['moved down', { subscription_plan: 'pro', subscription_status: 'active', enterprise_ended_by: 'operator' }, 403],
    ['pro', { subscription_plan: 'pro', subscription_status: 'active' }, 403],
  ] as const;
  for (const [name, data, status] of plans) {
    const w = await directory();
    await db().tenants.update({ where: { id: w.tenant.id }, data });
    for (const path of ['/ServiceProviderConfig', '/Schemas', '/ResourceTypes'])
      assert.equal((await w.scim.get(path)).status, 200, `${name} ${path}`);
    const answer = await w.scim.get('/Users');
    assert.equal(answer.status, status, name);
    if (status === 403) assert.deepEqual([answer.body.error, answer.body.scimType], ['scim_plan_required', undefined]);
  }
});

test('people are for Live credentials: a Test credential is refused after the plan', async () => {
  const w = await directory();
  const refused = await w.scimTest.post('/Users', person(`ann@${w.domain}`));
  assert.deepEqual([refused.status, refused.body.error], [403, 'scim_users_live_only']);
  assert.equal((await w.scimTest.get('/Schemas')).status, 200);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'pro' } });
  assert.equal((await w.scimTest.get('/Users')).body.error, 'scim_plan_required');
});

test('750 requests pass in a window and the 751st waits until the oldest leaves it, per workspace and space', async () => {
  const w = await workspace();
  const at = (second: number) => new Date((1_800_000_000 + second) * 1000);
  const take = (second: number, space = 'live') => takeBudget(w.tenant.id, space, at(second));
  const results = await Promise.allSettled(Array.from({ length: 760 }, (_, i) => take(i < 700 ? 0 : 30)));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, BUDGET);
  const refused = await take(30).catch((error: unknown) => error);
  assert.deepEqual([(refused as { status: number }).status, (refused as { headers: object }).headers], [429, { 'retry-after': '31' }]);
  await take(30, 'test');
  await assert.rejects(take(60), { status: 429, error: 'scim_rate_limited' });
  await take(61);
  // A steady 600 a minute is never refused.
  const steady = await workspace();
  for (let second = 0; second < 130; second += 5)
    await Promise.all(Array.from({ length: 50 }, () => takeBudget(steady.tenant.id, 'live', at(second))));
});

test('a flood from one network is refused before anything is looked up, and one of bad tokens as well, but valid ones go on', async (t) => {
  stillClock(t);
  const now = new Date();
  const flood = await Promise.allSettled(Array.from({ length: 3_005 }, (_, i) => shieldFromFlood(`2001:db8::${(i % 9) + 1}`, now)));
  assert.equal(flood.filter(({ status }) => status === 'rejected').length, 5);
  await shieldFromFlood('2001:db8:0:1::1', now);
  const { scim } = await directory();
  const from = { ip: '198.51.100.7' };
  const bad = [];
  for (let i = 0; i < 32; i++) bad.push((await ask('GET', '/Users', `scim_${i}`, undefined, from)).status);
  assert.deepEqual([bad.filter((status) => status === 401).length, bad.at(-1)], [30, 429]);
  assert.equal((await scim.get('/Users', from)).status, 200);
});

test('unmetered is refused: without the counter store every call is 503 with Retry-After', async () => {
  const { scim } = await directory();
  await sql().query('alter table rate_counters rename to rate_counters_away');
  try {
    const answer = await scim.get('/Users');
    assert.deepEqual([answer.status, answer.body.error, answer.headers.get('retry-after')], [503, 'scim_rate_limiter_unavailable', '5']);
  } finally {
    await sql().query('alter table rate_counters_away rename to rate_counters');
  }
  assert.equal((await scim.get('/Users')).status, 200);
});

test('discovery documents say what is served, under the address that was called', async () => {
  const w = await directory();
  const on = client(w.scim.token, { host: w.tenant.slug });
  const config = (await on.get('/ServiceProviderConfig')).body;
  assert.deepEqual(
    [config.patch, config.bulk, config.filter, config.sort, config.etag, config.changePassword].map((one) => one.supported),
    [true, false, true, false, false, false],
  );
  assert.equal(config.filter.maxResults, 200);
  assert.equal(config.meta.location, `https://${w.tenant.slug}.proxy.test/scim/v2/ServiceProviderConfig`);
  const types = (await on.get('/ResourceTypes')).body;
  const schemas = (await on.get('/Schemas')).body;
  for (const { id, schema, meta } of types.Resources) {
    assert.ok(
      schemas.Resources.some((one: { id: string }) => one.id === schema),
      schema,
    );
    assert.deepEqual((await on.get(`/ResourceTypes/${id}`)).body.meta, meta);
  }
  for (const { id } of schemas.Resources) assert.equal((await on.get(`/Schemas/${id}`)).body.id, id);
  assert.equal((await on.get('/Schemas/urn:none')).status, 404);
  assert.equal((await on.get('/ResourceTypes/Group')).status, 404);
});
