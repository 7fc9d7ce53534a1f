import assert from 'node:assert/strict';
import test from 'node:test';
import { PrismaPg } from '@prisma/adapter-pg';
import { digest } from '#server/crypto/tokens.ts';
import { sealValue } from '#server/custody/portable.ts';
import { flushUses } from '#server/custody/uses.ts';
import { countMisses } from '#server/custody/vaults/misses.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { updateVault } from '#server/domain/vaults/service.ts';
import { makeVault } from '#server/domain/vaults/vaults.fixture.ts';
import { PrismaClient } from '#server/generated/prisma/client.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { connection, sql } from '#server/platform/sql.ts';
import { type Answer, call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { destroyVersion, storedKey } from '#server/testing/stored-keys.ts';
import { workspace } from '#server/testing/workspace.ts';
import { payloadDigest } from './minting.ts';
import { pruneClientTokens } from './revocation.ts';
import { spendOnSealedValue } from './spending.ts';

await ownDatabase();

const PAGE = 'https://shop.example.com';
let addresses = 0;

async function arranged() {
  const w = await workspace();
  const minter = await w.key();
  const ip = `198.51.100.${++addresses}`;
  const sealed = async (value: string, more: { role?: string; key?: string; datatype?: 's' | 'n' | 'x' } = {}) =>
    (await sealValue(w.live, { datatype: 's', ...more, bytes: Buffer.from(value) })).text;
  const mint = async (body: Record<string, unknown>, key = minter.text): Promise<Answer> => call('POST', '/client-tokens', { key, body });
  const minted = async (body: Record<string, unknown>): Promise<string> => {
    const answer = await mint(body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body.data.token;
  };
  const spend = (
    action: string,
    token: string | undefined,
    body: Record<string, unknown>,
    more: { headers?: Record<string, string>; ip?: string; space?: 'test' } = {},
  ) => call('POST', `/client/${action}`, { key: token, body, ip, ...more });
  const rowOf = (token: string) => db().client_tokens.findUniqueOrThrow({ where: { token_hash: new Uint8Array(digest(token)) } });
  const entries = async (where: Record<string, unknown> = {}) => {
    await flushUses();
    const rows = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, ...where }, orderBy: { seq: 'asc' } });
    return rows.map(({ action, resource_type, actor_type, actor_id, details }) => ({
      action,
      resource_type,
      actor_type,
      actor_id,
      details: details as Record<string, unknown>,
    }));
  };
  return { w, minter, sealed, mint, minted, spend, rowOf, entries, ip };
}

const told = ({ status, body }: Answer) => [status, body?.error?.type];

test('the published token and payload digests', () => {
  assert.equal(
    digest('kct_EBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8').toString('hex'),
    '677759cb816019406693888852cf0f4162932a78520d44ef3f509d73b765e6df',
  );
  assert.equal(
    Buffer.from(payloadDigest('tok_01JD8Z3T9V6Q2M4N8K7H5R1C0B')).toString('hex'),
    'a7f096d7d63af506d76c1ee116a6b4b9223276aff2eec7bcfad9af01bb7f6448',
  );
});

test('decrypts its one value once, for whoever holds it, and the entry names who minted it', async () => {
  const { w, minter, sealed, minted, spend, rowOf, entries, ip } = await arranged();
  const data = await sealed('12.50', { datatype: 'n', role: 'pci' });
  const token = await minted({ action: 'decrypt', data, role: 'pci' });
  assert.match(token, /^kct_[A-Za-z0-9_-]{43}$/);
  const answer = await spend('decrypt', token, { data }, { headers: { origin: PAGE } });
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.text.startsWith('{"data":{"plaintext":12.50},'), 'digits as they were sealed');
  assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('referrer-policy')], ['no-store', 'no-referrer']);
  assert.deepEqual(told(await spend('decrypt', token, { data })), [401, 'client_token_used']);
  const row = await rowOf(token);
  assert.deepEqual([row.consumed_ip, row.consumed_origin], [ip, PAGE]);
  const stored = JSON.stringify({ ...row, token_hash: 0, payload_sha256: 0 });
  assert.ok(!stored.includes(token) && !stored.includes(data) && !stored.includes('12.50'), 'neither the token nor its payload is stored');
  const [opened] = await entries({ action: 'transit.decrypt' });
  assert.deepEqual(
    [opened?.actor_type, opened?.actor_id, opened?.details.client_token_id, opened?.details.ip, opened?.details.origin],
    ['api_key', minter.row.id, row.id, ip, PAGE],
  );
  const [created] = await entries({ action: 'create', resource_type: 'client_token' });
  assert.deepEqual([created?.details.action, created?.details.ttl], ['decrypt', 300]);
  assert.ok(!JSON.stringify(await entries()).includes(token));
  assert.equal(w.tenant.id, row.tenant_id);
});

test('a hosted field tokenizes for the page around it, and no other page can say that it is one', async () => {
  const { w, minted, spend, rowOf } = await arranged();
  const vault = await makeVault(w.live, { token_format: 'pan' });
  const token = await minted({ action: 'tokenize', vault: vault.name, origins: [PAGE] });
  const value = { value: '4242424242424242' };
  const from = (origin: string, parent: string) => ({ headers: { origin, 'x-svc-parent-origin': parent } });
  for (const [origin, parent] of [
    [env.PUBLIC_API_URL, 'https://evil.example'],
    [env.PUBLIC_SANDBOX_API_URL, PAGE],
    ['https://evil.example', PAGE],
    ['null', PAGE],
  ] as const)
    assert.deepEqual(
      told(await spend('tokenize', token, value, from(origin, parent))),
      [403, 'origin_not_allowed'],
      `${origin} for ${parent}`,
    );
  assert.equal((await spend('tokenize', token, value, from(env.PUBLIC_API_URL, PAGE))).status, 200);
  assert.equal((await rowOf(token)).consumed_origin, PAGE);
});

test('a check spends nothing, and refuses a token of another workspace, space, action or page', async () => {
  const { w, minted, spend, rowOf, sealed } = await arranged();
  const other = await arranged();
  const vault = await makeVault(w.live, { token_format: 'pan' });
  const from = { headers: { origin: env.PUBLIC_API_URL, 'x-svc-parent-origin': PAGE } };
  const field = { workspace: w.tenant.id, action: 'tokenize' };
  const token = await minted({ action: 'tokenize', vault: vault.name, origins: [PAGE] });
  const answer = await spend('check', token, field, from);
  assert.deepEqual([answer.status, answer.body.data], [200, { valid: true }]);
  assert.equal((await rowOf(token)).consumed_at, null);

  const theirs = await makeVault(other.w.live, { token_format: 'pan' });
  const foreign = await other.minted({ action: 'tokenize', vault: theirs.name, origins: [PAGE] });
  const data = await sealed('secret');
  const opening = await minted({ action: 'decrypt', data });
  for (const [what, presented, body, expected] of [
    ['of another workspace', foreign, field, [401, 'invalid_client_token']],
    ['unknown', `kct_${'A'.repeat(43)}`, field, [401, 'invalid_client_token']],
    ['for another action', opening, field, [403, 'client_token_action_mismatch']],
    ['no workspace', token, { action: 'tokenize' }, [400, 'validation_error']],
    ['no action', token, { workspace: w.tenant.id }, [403, 'client_token_action_mismatch']],
  ] as const)
    assert.deepEqual(told(await spend('check', presented, body, from)), expected, what);
  assert.deepEqual(told(await spend('check', token, field, { ...from, space: 'test' })), [401, 'invalid_client_token']);
  const elsewhere: Record<string, string>[] = [
    { origin: PAGE.replace('shop', 'evil') },
    { origin: env.PUBLIC_API_URL, 'x-svc-parent-origin': 'https://evil.example' },
  ];
  for (const headers of elsewhere) assert.deepEqual(told(await spend('check', token, field, { headers })), [403, 'origin_not_allowed']);
  assert.equal((await other.rowOf(foreign)).consumed_at, null);
  const refused = await other.entries({ action: 'update', resource_type: 'client_token' });
  assert.deepEqual(
    refused.map(({ details }) => details.reason),
    ['invalid_client_token'],
    'its owner sees in the audit log that it was tried',
  );
  assert.equal((await spend('check', opening, { workspace: w.tenant.id, action: 'decrypt' }, from)).status, 200);
  assert.equal((await spend('tokenize', token, { value: '4242424242424242' }, from)).status, 200);
  assert.deepEqual(told(await spend('check', token, field, from)), [401, 'client_token_used']);
});

test('detokenizes its one token, and says nothing but the value', async () => {
  const { w, minted, spend, entries } = await arranged();
  const vault = await makeVault(w.live, { token_format: 'pan' });
  const [issued] = await tokenize(w.live, vault, [{ value: '4242424242424242', metadata: { customer: 7 } }]);
  const token = await minted({ action: 'detokenize', data: issued?.token });
  const { status, body } = await spend('detokenize', token, { data: issued?.token });
  assert.deepEqual([status, body.data], [200, { value: '4242424242424242' }]);
  const [entry, ...more] = await entries({ action: 'vault.detokenize' });
  assert.deepEqual(
    [more.length, entry?.details.vault_id, entry?.details.token_id, entry?.details.via],
    [0, vault.id, issued?.id, 'client'],
  );
});

test('tokenizes one value from a page of its binding, and only such a page reads any answer', async () => {
  const { w, mint, spend, rowOf, entries } = await arranged();
  const vault = await makeVault(w.live, { token_format: 'pan' });
  const wish = { action: 'tokenize', vault: vault.name, origins: ['https://SHOP.example.com:443', 'https://a.example', PAGE] };
  const answer = await mint(wish);
  assert.deepEqual([answer.body.data.vault_id, answer.body.data.origins], [vault.id, ['https://a.example', PAGE]]);
  const token = answer.body.data.token as string;
  const from = (origin?: string) => ({ headers: (origin === undefined ? {} : { origin }) as Record<string, string> });
  for (const origin of [
    undefined,
    'null',
    'https://evil.example',
    `${PAGE}.evil.example`,
    'https://SHOP.example.com',
    'http://shop.example.com',
  ]) {
    const refused = await spend('tokenize', token, { value: '4242424242424242' }, from(origin));
    assert.deepEqual(told(refused), [403, 'origin_not_allowed'], String(origin));
    assert.equal(refused.headers.get('access-control-allow-origin'), null);
  }
  for (const [field, body] of Object.entries({
    value: { value: '4242424242424241' },
    metadata: { value: '4242424242424242', metadata: {} },
    ttl_seconds: { value: '4242424242424242', ttl_seconds: 60 },
    card_exp_year: { value: '4242424242424242', card_exp_month: 7 },
  })) {
    const refused = await spend('tokenize', token, body, from(PAGE));
    assert.deepEqual(told(refused), [400, 'validation_error'], field);
    assert.match(refused.body.error.message, new RegExp(`^${field}`));
    assert.ok(!refused.text.includes('424242424242'), 'the value is not repeated');
  }
  assert.deepEqual([(await rowOf(token)).failed_attempts, (await rowOf(token)).consumed_at], [0, null], 'none of these spent anything');
  const done = await spend('tokenize', token, { value: '4242 4242 4242 4242', card_exp_month: 7, card_exp_year: 2029 }, from(PAGE));
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(Object.keys(done.body.data).sort(), ['card_expires_on', 'expires_at', 'token']);
  assert.equal(done.body.data.card_expires_on, '2029-07-31');
  assert.equal(done.headers.get('access-control-allow-origin'), PAGE);
  const [created] = await entries({ action: 'create', resource_type: 'vault_token' });
  assert.equal(created?.details.client_token_id, (await rowOf(token)).id);
  const refusals = await entries({ action: 'update', resource_type: 'client_token' });
  assert.deepEqual(
    refusals.map(({ details }) => details.outcome ?? details.reason),
    ['refused', 'spent'],
    'one entry a minute for one reason',
  );
  assert.deepEqual(told(await spend('tokenize', token, { value: '4242424242424242' }, from(PAGE))), [401, 'client_token_used']);
});

test('every row of the table: what is refused, and whether it spends the token', async () => {
  const { w, minted, spend, rowOf, sealed } = await arranged();
  const data = await sealed('secret');
  const isSpent = async (token: string) => (await rowOf(token)).consumed_at !== null;
  const check = async (
    what: string,
    token: string,
    expected: [number, string],
    spent: boolean,
    attempts: number,
    attempt: Promise<Answer>,
  ) => {
    assert.deepEqual(told(await attempt), expected, what);
    assert.deepEqual([await isSpent(token), (await rowOf(token)).failed_attempts], [spent, attempts], what);
  };
  const token = await minted({ action: 'decrypt', data });
  await check('another action', token, [403, 'client_token_action_mismatch'], false, 1, spend('detokenize', token, { data }));
  await check('one more byte', token, [403, 'client_token_payload_mismatch'], false, 2, spend('decrypt', token, { data: `${data} ` }));
  await check(
    'another value',
    token,
    [403, 'client_token_payload_mismatch'],
    false,
    3,
    spend('decrypt', token, { data: await sealed('x') }),
  );
  await check('no data', token, [400, 'validation_error'], false, 3, spend('decrypt', token, {}));
  await check('a wrong type', token, [400, 'validation_error'], false, 3, spend('decrypt', token, { data: 1 }));
  assert.equal((await spend('decrypt', token, { data })).status, 200);

  const expired = await minted({ action: 'decrypt', data });
  await db().client_tokens.update({ where: { id: (await rowOf(expired)).id }, data: { expires_at: new Date(Date.now() - 1) } });
  await check('expired', expired, [401, 'client_token_expired'], false, 0, spend('decrypt', expired, { data }));

  const burned = await minted({ action: 'decrypt', data });
  for (let i = 0; i < 5; i++) await spend('decrypt', burned, { data: 'wrong' });
  await check('burned', burned, [401, 'invalid_client_token'], false, 5, spend('decrypt', burned, { data }));

  const wrongRole = await minted({ action: 'decrypt', data, role: 'pci' });
  await check('what does not open', wrongRole, [400, 'decrypt_failed'], true, 0, spend('decrypt', wrongRole, { data }));

  const key = await storedKey(w.live, { key_type: 'ecdh-p256', versions: 1 });
  const doomed = await sealed('secret', { key: key.name });
  const late = await minted({ action: 'decrypt', data: doomed });
  await destroyVersion(key.versions[0] as string);
  await check('a destroyed version', late, [410, 'key_version_destroyed'], true, 0, spend('decrypt', late, { data: doomed }));

  const vault = await makeVault(w.live);
  const issue = async () => (await tokenize(w.live, vault, [{ value: 'v' }]))[0] as { id: string; token: string };
  const [gone, old] = [await issue(), await issue()];
  const [ofGone, ofOld] = [
    await minted({ action: 'detokenize', data: gone.token }),
    await minted({ action: 'detokenize', data: old.token }),
  ];
  await db().vault_tokens.update({ where: { id: gone.id }, data: { deleted_at: new Date(), wrapped_value: null } });
  await db().vault_tokens.update({ where: { id: old.id }, data: { expires_at: new Date(Date.now() - 1) } });
  await check('a deleted vault token', ofGone, [404, 'not_found'], true, 0, spend('detokenize', ofGone, { data: gone.token }));
  await check('an expired vault token', ofOld, [410, 'token_expired'], true, 0, spend('detokenize', ofOld, { data: old.token }));

  // The vault refuses the value after the spend: the token is given back.
  const full = await arranged();
  await db().tenant_limit_overrides.create({ data: { tenant_id: full.w.tenant.id, kind: 'vault_tokens', value: 0 } });
  const crowded = await makeVault(full.w.live);
  const returned = await full.minted({ action: 'tokenize', vault: crowded.id, origins: [PAGE] });
  for (let i = 0; i < 2; i++) {
    const refused = await full.spend('tokenize', returned, { value: 'v' }, { headers: { origin: PAGE } });
    assert.deepEqual(told(refused), [402, 'plan_limit']);
    assert.equal((await full.rowOf(returned)).consumed_at, null);
  }
});

test('without its audit entry a spend opens nothing and leaves the token', async () => {
  const { w, minted, spend, sealed, rowOf } = await arranged();
  const data = await sealed('secret');
  const token = await minted({ action: 'decrypt', data });
  await sql().query(`create or replace function refuse_spends() returns trigger language plpgsql as $$ begin
    if new.tenant_id = '${w.tenant.id}' and new.action = 'transit.decrypt' then raise exception 'no'; end if; return new; end $$`);
  await sql().query('create or replace trigger refuse_spends before insert on audit_logs for each row execute function refuse_spends()');
  const refused = await spend('decrypt', token, { data });
  await sql().query('drop trigger refuse_spends on audit_logs');
  assert.deepEqual([...told(refused), refused.headers.get('retry-after')], [503, 'audit_unavailable', '5']);
  assert.equal((await rowOf(token)).consumed_at, null);
  assert.equal((await spend('decrypt', token, { data })).status, 200);
});

test('of parallel spends exactly one gets the value, also across two pools of connections', async () => {
  const { w, minted, sealed, rowOf, entries } = await arranged();
  const data = await sealed('secret');
  const token = await minted({ action: 'decrypt', data });
  const row = await rowOf(token);
  const other = new PrismaClient({ adapter: new PrismaPg({ ...connection(), max: 4 }) });
  const ctx = (client: PrismaClient): Ctx => ({
    ...w.live,
    db: client,
    actor: {
      type: 'client_token',
      id: row.id,
      label: row.minted_by_label,
      capabilities: new Set(['transit:decrypt']),
      minted_by: { type: 'api_key', id: row.minted_by_id, label: row.minted_by_label },
      origin: null,
      bound: { payload_sha256: row.payload_sha256, key_id: row.key_id, vault_id: null, token_id: null, role: null },
    },
  });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 24 }, (_, i) => spendOnSealedValue(ctx(i % 2 ? db() : (other as never)), { data })),
  );
  await other.$disconnect();
  const won = outcomes.filter(({ status }) => status === 'fulfilled');
  const lost = outcomes.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { type?: string }).type] : []));
  assert.deepEqual([won.length, new Set(lost)], [1, new Set(['client_token_used'])]);
  assert.equal((await entries({ action: 'transit.decrypt' })).length, 1);
});

test('a token is refused everywhere else, and every other credential is refused here', async () => {
  const { w, minter, minted, spend, sealed } = await arranged();
  const data = await sealed('secret');
  const token = await minted({ action: 'decrypt', data });
  for (const [method, path] of [
    ['GET', '/environments'],
    ['POST', '/decrypt'],
    ['POST', '/client-tokens'],
    ['GET', '/client-tokens'],
  ] as const) {
    const refused = await call(method, path, { key: token, ...(method === 'POST' ? { body: { data } } : {}) });
    assert.deepEqual(told(refused), [401, 'invalid_api_key'], path);
  }
  assert.deepEqual(told(await call('GET', '/environments', { key: data })), [401, 'invalid_api_key'], 'a sealed value is no credential');
  const oauth = await w.token();
  for (const [what, attempt] of [
    ['nothing', () => spend('decrypt', undefined, { data })],
    ['an empty token', () => spend('decrypt', undefined, { data, token: '' })],
  ] as const)
    assert.deepEqual(told(await attempt()), [401, 'authentication_required'], what);
  const others: Record<string, () => Promise<Answer>> = {
    'an API key': () => spend('decrypt', minter.text, { data }),
    'an access token': () => spend('decrypt', oauth.text, { data }),
    'a key in x-api-key': () => spend('decrypt', undefined, { data, token }, { headers: { 'x-api-key': minter.text } }),
    'another scheme': () => spend('decrypt', undefined, { data, token }, { headers: { authorization: `Basic ${token}` } }),
    'an unknown token': () => spend('decrypt', `kct_${'A'.repeat(43)}`, { data }),
    'a malformed token': () => spend('decrypt', 'kct_short', { data }),
    'a number': () => spend('decrypt', undefined, { data, token: 1 }),
    'a Live token in Test': () => spend('decrypt', token, { data }, { space: 'test' }),
  };
  const bodies = new Set<string>();
  for (const [what, attempt] of Object.entries(others)) {
    const answer = await attempt();
    assert.deepEqual(told(answer), [401, 'invalid_client_token'], what);
    bodies.add(answer.text.replace(/"request_id":"[^"]*"/, ''));
  }
  assert.equal(bodies.size, 1, 'one answer for all of them');
  assert.equal((await spend('decrypt', undefined, { data, token })).status, 200, 'in the body, where a page sets no headers');
});

test('minting takes the right that the token will exercise', async () => {
  const { w, mint, sealed } = await arranged();
  const data = await sealed('secret');
  const vault = await makeVault(w.live);
  const [issued] = await tokenize(w.live, vault, [{ value: 'v' }]);
  const wishes = [
    [{ action: 'decrypt', data }, 'transit:decrypt'],
    [{ action: 'detokenize', data: issued?.token }, 'vault:detokenize'],
    [{ action: 'tokenize', vault: vault.name, origins: [PAGE] }, 'vault:tokenize'],
  ] as const;
  const editor = (await w.key('live', 'Key - Editor')).text;
  const scoped = async (scopes: string[]) => (await w.token({ scopes })).text;
  assert.deepEqual(told(await mint(wishes[0][0], editor)), [403, 'forbidden']);
  assert.deepEqual(told(await mint(wishes[1][0], editor)), [403, 'forbidden']);
  assert.equal((await mint(wishes[2][0], editor)).status, 201);
  for (const [body, capability] of wishes) {
    const without = wishes.map(([, one]) => one).filter((one) => one !== capability);
    const refused = await mint(body, await scoped([...without]));
    assert.deepEqual(told(refused), [403, 'forbidden'], capability);
    assert.match(refused.body.error.message, new RegExp(capability));
    assert.equal((await mint(body, await scoped([capability]))).status, 201, capability);
  }
});

test('bindings are exclusive, and what does not exist in this space is one answer', async () => {
  const { w, mint, sealed } = await arranged();
  const data = await sealed('secret');
  const vault = await makeVault(w.live);
  const [issued] = await tokenize(w.live, vault, [{ value: 'v' }]);
  const foreign = await arranged();
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ action: 'decrypt' }, /^data: is required/],
    [{ action: 'tokenize', vault: vault.name, origins: [PAGE], data }, /^data: can't be sent/],
    [{ action: 'decrypt', data, vault: vault.name }, /^vault: can't be sent/],
    [{ action: 'decrypt', data, origins: [PAGE] }, /^origins: can't be sent/],
    [{ action: 'tokenize', vault: vault.name }, /^origins: is required/],
    [{ action: 'tokenize', vault: vault.name, origins: [] }, /^origins/],
    [{ action: 'tokenize', vault: vault.name, origins: Array(11).fill(PAGE) }, /^origins/],
    [{ action: 'tokenize', vault: vault.name, origins: ['https://*.example.com'] }, /^origins: entry 1 must/],
    [{ action: 'tokenize', vault: vault.name, origins: ['http://localhost:3000'] }, /^origins: entry 1 can only be/],
    [{ action: 'tokenize', vault: 'nothing', origins: [PAGE] }, /^vault: doesn't exist/],
    [{ action: 'tokenize', vault: vault.name, origins: [PAGE], role: 'pci' }, /^role: can't be sent/],
    [{ action: 'decrypt', data: 'plain' }, /^data: must be a sealed value/],
    [{ action: 'decrypt', data: await foreign.sealed('x') }, /^data: must be a sealed value/],
    [{ action: 'detokenize', data: 'tok_01JD8Z3T9V6Q2M4N8K7H5R1C0B' }, /^data: must be a vault token/],
    [{ action: 'detokenize', data: issued?.id }, /^data: must be the text/],
    [{ action: 'decrypt', data, ttl_seconds: 0 }, /^ttl_seconds/],
    [{ action: 'open', data }, /^action/],
  ];
  for (const [body, message] of cases) {
    const answer = await mint(body);
    assert.deepEqual(told(answer), [400, 'validation_error'], JSON.stringify(body));
    assert.match(answer.body.error.message, message);
  }
  const before = Date.now();
  const { body } = await mint({ action: 'decrypt', data, ttl_seconds: 86_400 });
  const life = Date.parse(body.data.expires_at) - before;
  assert.ok(life > 590_000 && life < 610_000, 'clamped to ten minutes');
  await updateVault(w.live, { vault: vault.id, enabled: false } as never);
  assert.deepEqual(told(await mint({ action: 'tokenize', vault: vault.name, origins: [PAGE] })), [409, 'vault_disabled']);
});

test('whoever guesses tokens by minting for them is stopped like whoever detokenizes', async (t) => {
  stillClock(t);
  const { w, minter, mint } = await arranged();
  const vault = await makeVault(w.live);
  const [issued] = await tokenize(w.live, vault, [{ value: 'v' }]);
  const caller = { ...w.live, actor: { ...w.live.actor, type: 'api_key', id: minter.row.id } } as Ctx;
  await countMisses(caller, 99);
  const guess = { action: 'detokenize', data: 'tok_01JD8Z3T9V6Q2M4N8K7H5R1C0B' };
  assert.deepEqual(told(await mint(guess)), [400, 'validation_error']);
  assert.deepEqual(told(await mint(guess)), [429, 'rate_limit_exceeded']);
  assert.deepEqual(told(await mint({ ...guess, data: issued?.token })), [429, 'rate_limit_exceeded']);
});

test('a token ends with the credential that minted it, and with its vault', async () => {
  const { w, mint, sealed, spend } = await arranged();
  const data = await sealed('secret');
  const vault = await makeVault(w.live);
  const tokenFor = async (key: string, body: Record<string, unknown> = { action: 'decrypt', data }) =>
    (await mint(body, key)).body.data.token as string;
  const refused = async (token: string, what: string) =>
    assert.deepEqual(told(await spend('decrypt', token, { data })), [401, 'invalid_client_token'], what);

  const revoked = await w.key();
  const a = await tokenFor(revoked.text);
  await db().api_keys.update({ where: { id: revoked.row.id }, data: { active: false, revoked_at: new Date() } });
  await refused(a, 'revoked key');
  const demoted = await w.key();
  const b = await tokenFor(demoted.text);
  await db().api_keys.update({ where: { id: demoted.row.id }, data: { role_ids: [] } });
  await refused(b, 'a key that lost the right');
  const ended = await w.key();
  const c = await tokenFor(ended.text);
  await db().api_keys.update({ where: { id: ended.row.id }, data: { expires_at: new Date(Date.now() - 1) } });
  await refused(c, 'expired key');
  const client = await w.client();
  const d = await tokenFor((await w.token({ of: client })).text);
  await db().oauth_clients.update({ where: { id: client.id }, data: { active: false } });
  await refused(d, 'inactive client');

  const { text } = await w.key();
  const e = await tokenFor(text, { action: 'tokenize', vault: vault.name, origins: [PAGE] });
  await updateVault(w.live, { vault: vault.id, enabled: false } as never);
  await updateVault(w.live, { vault: vault.id, enabled: true } as never);
  const page = { headers: { origin: PAGE } };
  assert.deepEqual(told(await spend('tokenize', e, { value: 'v' }, page)), [401, 'invalid_client_token'], 'disabled once');
});

test('lists what was minted with its state, and revokes one or all of a credential', async () => {
  const { minter, minted, sealed, spend, rowOf, entries, w } = await arranged();
  const data = await sealed('secret');
  const [a, b, c] = [
    await minted({ action: 'decrypt', data }),
    await minted({ action: 'decrypt', data }),
    await minted({ action: 'decrypt', data }),
  ];
  await spend('decrypt', a, { data });
  const key = minter.text;
  const list = async (query = '') => (await call('GET', `/client-tokens${query}`, { key })).body;
  const all = await list();
  assert.deepEqual(
    all.data.map(({ state, minted_by, key_name }: Record<string, unknown>) => ({ state, minted_by, key_name })),
    ['minted', 'minted', 'consumed'].map((state) => ({
      state,
      minted_by: { type: 'api_key', id: minter.row.id, label: minter.row.name },
      key_name: 'kc-default',
    })),
  );
  assert.ok(!JSON.stringify(all).includes(a) && !JSON.stringify(all).includes(data));
  const one = await call('DELETE', `/client-tokens/${(await rowOf(b)).id}`, { key });
  assert.deepEqual([one.status, one.body.data], [200, { deleted: true, revoked: true }]);
  assert.deepEqual(told(await spend('decrypt', b, { data })), [401, 'invalid_client_token']);
  const rest = await call('POST', '/client-tokens/revoke', { key, body: { minted_by: minter.row.id } });
  assert.deepEqual(rest.body.data, { revoked: 1 });
  assert.deepEqual(told(await spend('decrypt', c, { data })), [401, 'invalid_client_token']);
  for (const [state, n] of Object.entries({ minted: 0, consumed: 1, revoked: 2, expired: 0, burned: 0 }))
    assert.equal((await list(`?state=${state}`)).meta.total, n, state);
  assert.equal((await entries({ action: 'revoke', resource_type: 'client_token' })).length, 2);
  assert.equal((await call('DELETE', `/client-tokens/${w.tenant.id}`, { key })).status, 404);
});

test('pages of any site may call, without cookies, and nothing else of the API answers them', async () => {
  const { minted, sealed, spend } = await arranged();
  const data = await sealed('secret');
  const preflight = await call('OPTIONS', '/client/decrypt', { headers: { origin: PAGE, 'access-control-request-method': 'POST' } });
  assert.equal(preflight.status, 204);
  const shown = (name: string) => preflight.headers.get(`access-control-${name}`);
  assert.deepEqual(
    [shown('allow-origin'), shown('allow-methods'), shown('allow-headers'), shown('max-age'), shown('allow-credentials')],
    [PAGE, 'POST', 'authorization, content-type, service-version', '600', null],
  );
  assert.match(preflight.headers.get('vary') ?? '', /Origin/);
  const elsewhere = await call('OPTIONS', '/decrypt', { headers: { origin: PAGE } });
  assert.equal(elsewhere.headers.get('access-control-allow-origin'), null);
  const token = await minted({ action: 'decrypt', data });
  const wrong = await spend('decrypt', token, { data: 'x' }, { headers: { origin: 'null' } });
  assert.equal(wrong.headers.get('access-control-allow-origin'), 'null', 'a sandboxed page may read why');
  const { headers } = await spend('decrypt', token, { data }, { headers: { origin: PAGE } });
  assert.deepEqual(
    [headers.get('access-control-allow-origin'), headers.get('access-control-expose-headers')],
    [PAGE, 'x-request-id, retry-after'],
  );
  assert.match(headers.get('vary') ?? '', /Origin/);
});

test('an address has sixty spends a minute, also of tokens that do not exist', async (t) => {
  stillClock(t);
  const { spend, minted, sealed } = await arranged();
  const data = await sealed('secret');
  const token = await minted({ action: 'decrypt', data });
  const ip = '203.0.113.77';
  const answers = await Promise.all(Array.from({ length: 61 }, () => spend('decrypt', `kct_${'A'.repeat(43)}`, { data }, { ip })));
  assert.equal(answers.filter(({ status }) => status === 429).length, 1);
  assert.equal((await spend('decrypt', token, { data }, { ip })).status, 200, 'guesses of strangers cost a workspace nothing');
  const own = await Promise.all(Array.from({ length: 60 }, () => spend('decrypt', token, { data }, { ip })));
  const late = own.find(({ status }) => status === 429);
  assert.equal(late?.body.error.type, 'rate_limit_exceeded');
  assert.ok(Number(late?.headers.get('retry-after')) >= 1);
});

test('idempotency keys are judged and nothing is replayed', async () => {
  const { minted, sealed, spend } = await arranged();
  const data = await sealed('secret');
  const token = await minted({ action: 'decrypt', data });
  assert.deepEqual(told(await spend('decrypt', token, { data }, { headers: { 'idempotency-key': 'a b' } })), [
    400,
    'invalid_idempotency_key',
  ]);
  const headers = { 'idempotency-key': 'k1' };
  assert.equal((await spend('decrypt', token, { data }, { headers })).status, 200);
  assert.deepEqual(told(await spend('decrypt', token, { data }, { headers })), [401, 'client_token_used']);
});

test('mints count by the month, and records go 30 days after they expired', async () => {
  const { minted, sealed, rowOf } = await arranged();
  const data = await sealed('secret');
  const token = await minted({ action: 'decrypt', data });
  const { id } = await rowOf(token);
  const days = (n: number) => new Date(Date.now() - n * 86_400_000);
  await db().client_tokens.update({ where: { id }, data: { expires_at: days(29) } });
  await pruneClientTokens(new Date());
  assert.ok(await db().client_tokens.findUnique({ where: { id } }));
  await db().client_tokens.update({ where: { id }, data: { expires_at: days(31) } });
  await pruneClientTokens(new Date());
  assert.equal(await db().client_tokens.findUnique({ where: { id } }), null);
  const other = await arranged();
  await db().tenant_limit_overrides.create({ data: { tenant_id: other.w.tenant.id, kind: 'client_tokens', value: 1 } });
  const own = await other.sealed('x');
  assert.equal((await other.mint({ action: 'decrypt', data: own })).status, 201);
  assert.deepEqual(told(await other.mint({ action: 'decrypt', data: own })), [402, 'plan_limit']);
});
