import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { flushUses } from '#server/custody/uses.ts';
import { forgetRules } from '#server/domain/policies/service.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { destroyVersion, storedKey } from '#server/testing/stored-keys.ts';
import { workspace } from '#server/testing/workspace.ts';

await ownDatabase();

async function arranged(plan: 'free' | 'enterprise' = 'enterprise') {
  const w = await workspace({ plan });
  const { text: key } = await w.key();
  const post = (path: string, body: unknown, more: { raw?: string; key?: string } = {}) =>
    call('POST', path, { key, ...(more.raw === undefined ? { body } : {}), ...more });
  /** The text of a member of the answer's data, as it was sent. */
  const source = (text: string, name: string) =>
    new RegExp(`"${name}":(.*),"(?:key":"[^"]*","key_version|decrypted|rewrapped)":`, 's').exec(text)?.[1];
  return { w, post, source };
}

test('seals the values of the example of the interface, and leaves the rest', async () => {
  const { w, post } = await arranged();
  const data = { card: { number: '4242', holder: 'J D' }, items: [{ sku: 'a', ssn: '1' }, { sku: 'b' }], note: 'x' };
  const { status, body } = await post('/encrypt', { data, selectors: ['$.card.number', '$..ssn'] });
  assert.equal(status, 200);
  const { ciphertext, ...rest } = body.data;
  assert.deepEqual(rest, { key: 'kc-default', key_version: 1, encrypted: 2, skipped: 0 });
  assert.match(ciphertext.card.number, /^kc:1:s:.*:\$$/);
  assert.match(ciphertext.items[0].ssn, /^kc:1:s:.*:\$$/);
  assert.deepEqual({ ...ciphertext, card: 0, items: 0 }, { ...data, card: 0, items: 0 });
  const again = await post('/encrypt', { data: ciphertext, selectors: ['$.card'] });
  assert.deepEqual([again.body.data.encrypted, again.body.data.skipped], [1, 1]);
  assert.equal(again.body.data.ciphertext.card.number, ciphertext.card.number, 'nothing is sealed twice');
  const opened = await post('/decrypt', { data: again.body.data.ciphertext });
  assert.deepEqual([opened.body.data.plaintext, opened.body.data.decrypted], [data, 3]);
  await flushUses();
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, action: { in: ['execute', 'transit.decrypt'] } },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries
      .map(({ action, details }) => ({ action, ...(details as Record<string, unknown>), actor: 0, request_id: 0 }))
      .find(({ action }) => action === 'transit.decrypt'),
    {
      action: 'transit.decrypt',
      leaves: 3,
      keys: [{ key: 'kc-default', version: 1, count: 3 }],
      name: 'kc-default',
      sandbox: false,
      actor: 0,
      request_id: 0,
    },
  );
  const everything = JSON.stringify(entries.map(({ details }) => details));
  assert.doesNotMatch(everything, /\b4242\b|J D/, 'no entry holds data');
  assert.ok(!everything.includes(ciphertext.card.number));
});

const HOSTILE = `{"2":"two","1":1299.10,"__proto__":{"constructor":9007199254740993},"a":[],"b":{},"1":-0.0e+10,
  "deep" : [ null , true,[[ "\\ud83d\\ude00\\u0000/\\/" ]]] ,"":{"$b64":"AAECAwQ="},"toJSON":{"$b64":"AA==","x":1},"n":123456789012345678901234567890.5}`;

test('digits, member order, repeated names, prototype names and spaces come back as they were written', async () => {
  const { post, source } = await arranged();
  const sealed = await post('/encrypt', null, { raw: `{"data":${HOSTILE},"role":"pci"}` });
  assert.deepEqual([sealed.status, sealed.body.data.encrypted], [200, 11]);
  const ciphertext = source(sealed.text, 'ciphertext') as string;
  const names = (json: string) => [...json.matchAll(/"([^"]{0,11})"\s*:/g)].map(([, name]) => name);
  assert.deepEqual(names(ciphertext).slice(0, 5), ['2', '1', '__proto__', 'constructor', 'a'], 'order and names');
  assert.ok(ciphertext.includes('"a":[],"b":{}'), 'empty containers stay');
  const opened = await post('/decrypt', null, { raw: `{"role":"pci","data":${ciphertext}}` });
  assert.equal(source(opened.text, 'plaintext'), HOSTILE.replace('\\ud83d\\ude00\\u0000/\\/', '😀\\u0000//'));
});

test('a scalar, bytes and nothing at all keep their shape', async () => {
  const { post } = await arranged();
  for (const data of ['x', 1.5, true, null, '', { $b64: 'AQID' }, [], {}, [[]]]) {
    const sealed = (await post('/encrypt', { data })).body.data;
    const opened = (await post('/decrypt', { data: sealed.ciphertext })).body.data;
    assert.deepEqual(opened.plaintext, data);
    assert.equal(opened.decrypted, sealed.encrypted);
  }
  assert.equal((await post('/encrypt', {})).body.error.type, 'validation_error');
});

const shape = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(shape)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, one]) => [name, shape(one)])
      : '.';
test('whatever is sealed opens to the same text, in the same shape', async () => {
  const { post, source } = await arranged();
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), async (json) => {
      const text = JSON.stringify(JSON.parse(json));
      const sealed = await post('/encrypt', null, { raw: `{"data":${text}}` });
      assert.deepEqual(shape(sealed.body.data.ciphertext), shape(JSON.parse(text)));
      const opened = await post('/decrypt', null, { raw: `{"data":${source(sealed.text, 'ciphertext')}}` });
      assert.equal(source(opened.text, 'plaintext'), text);
    }),
    { numRuns: 40 },
  );
});

test('one failing value fails the call, and its place is named but not its content', async () => {
  const { w, post } = await arranged();
  const { ciphertext } = (await post('/encrypt', { data: { a: 'one', 'b/c': ['two'] } })).body.data;
  const sealed = ciphertext['b/c'][0] as string;
  const faulty = [
    sealed.replace('kc:1:s', 'kc:1:n'),
    sealed.replace('kc:1:', 'kc:2:'),
    `${sealed.slice(0, -3)}${sealed.at(-3) === 'A' ? 'B' : 'A'}:$`,
    'kc::$',
    'kc:not sealed:$',
  ];
  const before = await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'transit.decrypt' } });
  for (const text of faulty) {
    const { status, body } = await post('/decrypt', { data: { ...ciphertext, 'b/c': [text] } });
    assert.deepEqual([status, body.error.type], [400, 'decrypt_failed'], text);
    assert.match(body.error.message, /^At \/b~1c\/0: /);
    assert.ok(!body.error.message.includes(text) && body.data === undefined);
  }
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'transit.decrypt' } }), before);
  // Without its end it claims nothing, and a value moved under another name opens there.
  const passed = await post('/decrypt', { data: { a: sealed.slice(0, -1), moved: sealed } });
  assert.deepEqual(passed.body.data, { plaintext: { a: sealed.slice(0, -1), moved: 'two' }, decrypted: 1 });
});

test('every changed character of a sealed value refuses or changes nothing but its marks', async () => {
  const { post } = await arranged();
  const sealed = (await post('/encrypt', { data: 'secret', role: 'pci' })).body.data.ciphertext as string;
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: sealed.length - 1 }), fc.constantFrom(...'Aa0_-:$k='), async (at, other) => {
      if (sealed[at] === other) return;
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      const { status, body } = await post('/decrypt', { data: changed, role: 'pci' });
      if (status === 200) assert.deepEqual(body.data, { plaintext: changed, decrypted: 0 });
      else assert.equal(body.error.type, 'decrypt_failed');
      assert.ok(!JSON.stringify(body).includes('secret'));
    }),
    { numRuns: 60 },
  );
});

test('a hostile sealer can put nothing into an answer but the kind of value it named', async () => {
  const { w, post } = await arranged();
  const { seal, sealerOf } = await import('#server/custody/portable.ts');
  const sealer = await sealerOf(w.live);
  const sealed = (datatype: 's' | 'n' | 'b' | 'j', bytes: Buffer | string) => seal(sealer, { datatype, bytes: Buffer.from(bytes) });
  const hostile = [
    sealed('n', '1,"admin":true'),
    sealed('n', 'NaN'),
    sealed('n', '01'),
    sealed('n', ''),
    sealed('b', 'TRUE'),
    sealed('j', '{"a":1}}'),
    sealed('j', '['.repeat(5_000) + ']'.repeat(5_000)),
    sealed('s', Buffer.from([0xff, 0xfe])),
  ];
  for (const data of hostile) assert.deepEqual((await post('/decrypt', { data })).body.error.type, 'decrypt_failed');
  const object = sealed('j', '{"__proto__":{"polluted":1}}');
  const answer = await post('/decrypt', { data: [object] });
  assert.ok(answer.text.includes('"plaintext":[{"__proto__":{"polluted":1}}]'));
});

test('refuses what is too much, too deep or not selected', async () => {
  const { post } = await arranged();
  const refused = async (body: unknown, field: RegExp, path = '/encrypt') => {
    const answer = await post(path, body);
    assert.deepEqual([answer.status, answer.body.error?.type], [400, 'validation_error'], answer.text.slice(0, 200));
    assert.match(answer.body.error.message, field);
  };
  await refused({ data: Array(2_001).fill(1) }, /^data: has 2001 values/);
  await refused({ data: ['x'.repeat(65_537)] }, /^At \/0: data: each value/);
  await refused({ data: '\ud800' }, /invalid Unicode/);
  await refused({ data: 1, selectors: ['card'] }, /^selectors\.0: /);
  await refused({ data: 1, selectors: ['$..a..b'] }, /^selectors: .*only one/);
  await refused({ data: 1, selectors: [] }, /^selectors/);
  await refused({ data: 1, selectors: Array(51).fill('$') }, /^selectors/);
  await refused({ data: 1, key: 'nothing' }, /^key: doesn't exist/);
  await refused({ data: 1, role: 'P C I' }, /^role: /);
  await refused({ data: JSON.parse('['.repeat(72) + ']'.repeat(72)) }, /nested deeper/);
  assert.equal((await post('/encrypt', { data: Array(2_001).fill(1), selectors: ['$[0]'] })).body.data.encrypted, 1);
  const big = await post('/encrypt', { data: 'x'.repeat(1_048_576) });
  assert.deepEqual([big.status, big.body.error.type], [413, 'payload_too_large']);
});

test('what stands below names that reach prototypes is as deep as anything else', async () => {
  const { post } = await arranged();
  for (const path of ['/encrypt', '/decrypt', '/encrypt/rewrap']) {
    const deep = await post(path, undefined, { raw: `{"data":{"constructor":${'['.repeat(100_000)}${']'.repeat(100_000)}}}` });
    assert.deepEqual([deep.status, deep.body.error?.type], [400, 'validation_error'], path);
    assert.match(deep.body.error.message, /nested deeper/);
  }
});

test('leaves count by the month in Live, exactly, and not in Test', async () => {
  const { w, post } = await arranged('free');
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'encryption_leaves', value: 5 } });
  const answers = await Promise.all(Array.from({ length: 4 }, () => post('/encrypt', { data: ['a', 'b'] })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 402, 402]);
  assert.equal((await post('/encrypt', { data: 'c' })).status, 200);
  assert.equal((await post('/encrypt', { data: 'd' })).body.error.type, 'plan_limit');
  const sandbox = (await w.key('test')).text;
  assert.equal((await post('/encrypt', { data: ['a', 'b'] }, { key: sandbox })).status, 200);
});

test('without an audit entry nothing is opened', async () => {
  const { w, post } = await arranged();
  const { ciphertext } = (await post('/encrypt', { data: 'secret' })).body.data;
  await flushUses();
  await sql().query(`create or replace function refuse_decrypts() returns trigger language plpgsql as $$ begin
    if new.tenant_id = '${w.tenant.id}' and new.action = 'transit.decrypt' then raise exception 'no'; end if; return new; end $$`);
  await sql().query(
    'create or replace trigger refuse_decrypts before insert on audit_logs for each row execute function refuse_decrypts()',
  );
  const { status, body, headers } = await post('/decrypt', { data: ciphertext });
  await sql().query('drop trigger refuse_decrypts on audit_logs');
  assert.deepEqual([status, body.error.type, headers.get('retry-after')], [503, 'audit_unavailable', '5']);
});

test('inspect describes any well-formed text, and uses no key', async () => {
  const { w, post } = await arranged();
  const published =
    'kc:1:s:MGY4ZmFkNWItZDljYi00NjlmLWExNjUtNzA4Njc3Mjg5NTBlOjdjOWU2Njc5LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNzox:BOJm3f3BJmjbMNTKPo93SUMsQWBE8tK4wQvz1AEq7_qKv6hkBKLp_-Z9R8WH73qXp_RWuGO00Cz8aSiXOrWxyzk:oKGio6Slpqeoqaqr:JVuPDkehk_fGO-9BHbpz1ORmrDQL1IZgsQvc2v6CP78:$';
  const { data } = (await post('/inspect', { value: published })).body;
  assert.deepEqual(data, {
    encrypted: true,
    scheme: 'kc',
    version: 1,
    datatype: 'string',
    key_ref: { tenantId: '0f8fad5b-d9cb-469f-a165-70867728950e', appKeyId: '7c9e6679-7425-40de-944b-e07fc1f90ae7', keyVersion: 1 },
    fingerprint: 'sha256:b076cc67cbc4ce5323bc9a467248cb71',
  });
  for (const value of ['', 'plain', 'kc:1:s', published.replace('kc:1', 'kc:2')])
    assert.deepEqual((await post('/inspect', { value })).body.data, { encrypted: false });
  assert.equal(await db().crypto_keys.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('the sealing bundle is public, cached for a moment, and follows the key', async () => {
  const { w } = await arranged();
  const key = await storedKey(w.live, { key_type: 'ecdh-p256', versions: 2 });
  const read = async (role: string) => call('GET', `/encrypt/sealing-bundle?key=${key.name}`, { key: (await w.key('live', role)).text });
  const { body, headers } = await read('Key - Read-only');
  assert.deepEqual(body.data.key_ref, { tenant_id: w.tenant.id, app_key_id: key.id, key_version: 2 });
  assert.equal(Buffer.from(body.data.public_key_raw, 'base64url').length, 65);
  assert.equal(headers.get('cache-control'), 'private, max-age=300');
  assert.equal((await read('Key - Invoke')).status, 403);
});

test('rewrap moves values to the current version without showing them', async () => {
  const { w, post } = await arranged();
  const { sealerWith, seal } = await import('#server/custody/portable.ts');
  const { keyById } = await import('#server/custody/keys.ts');
  const key = await storedKey(w.live, { key_type: 'ecdh-p256', versions: 2 });
  const found = await keyById(w.live, key.id);
  assert.ok(found);
  const old = seal(await sealerWith({ ...found, current_version: 1 }), { datatype: 'n', bytes: Buffer.from('12.50'), role: 'pci' });
  const { body } = await post('/encrypt/rewrap', { data: { price: old, note: 'x' }, role: 'pci' });
  assert.deepEqual([body.data.rewrapped, body.data.ciphertext.note], [1, 'x']);
  const described = await post('/inspect', { value: body.data.ciphertext.price });
  assert.equal(described.body.data.key_ref.keyVersion, 2);
  await destroyVersion(key.versions[0] as string);
  const gone = await post('/decrypt', { data: old, role: 'pci' });
  assert.deepEqual([gone.status, gone.body.error.type], [410, 'key_version_destroyed']);
  assert.ok((await post('/decrypt', { data: body.data.ciphertext, role: 'pci' })).text.includes('"price":12.50'));
});

test('a policy about one key holds for every value under it', async () => {
  const { w, post } = await arranged();
  const [barred, free] = [await storedKey(w.live, { key_type: 'ecdh-p256' }), await storedKey(w.live, { key_type: 'ecdh-p256' })];
  const sealed = async (key: string) => (await post('/encrypt', { data: 'x', key })).body.data.ciphertext as string;
  const texts = [await sealed(free.name), await sealed(barred.name)];
  await db().tenant_policies.create({
    data: {
      id: crypto.randomUUID(),
      tenant_id: w.tenant.id,
      name: 'hands off',
      actions: ['transit:decrypt', 'transit:encrypt'],
      subjects: { all: true },
      resources: [barred.name],
      space: 'both',
      enabled: true,
    },
  });
  forgetRules(w.tenant.id);
  assert.equal((await post('/decrypt', { data: texts[0] })).status, 200);
  for (const [path, body] of [
    ['/decrypt', { data: texts }],
    ['/encrypt', { data: 'x', key: barred.name }],
  ] as const) {
    const answer = await post(path, body);
    assert.deepEqual([answer.status, answer.body.error.type], [403, 'forbidden'], path);
  }
});

test('a person-issued token never decrypts, and sandbox and Live know nothing of each other', async () => {
  const { w, post } = await arranged();
  const { ciphertext } = (await post('/encrypt', { data: 'x' })).body.data;
  const sandbox = await post('/decrypt', { data: ciphertext }, { key: (await w.key('test')).text });
  assert.equal(sandbox.body.error.type, 'decrypt_failed');
  const foreign = await post('/decrypt', { data: ciphertext }, { key: (await (await workspace()).key()).text });
  assert.equal(foreign.body.error.message, sandbox.body.error.message);
});
