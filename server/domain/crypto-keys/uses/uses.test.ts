import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { flushUses } from '#server/custody/uses.ts';
import { newId } from '#server/kernel/ids.ts';
import type { KeyType } from '#server/kernel/key-types.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { log } from '#server/platform/log.ts';
import { tellOutages } from '#server/platform/outage-lines.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { destroyVersion, storedKey } from '#server/testing/stored-keys.ts';
import { refuseAuditEntries } from '#server/testing/suites/audit.ts';
import { workspace } from '#server/testing/workspace.ts';

// Interface rule 40 §4, §5, §7, §8 and §10 as a caller meets them.

await testDatabase();

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i);
const b64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const PLAINTEXT = 'Jane Doe, 415-555-9311';
const VECTOR = 'svc:v1:oKGio6SlpqeoqaqrCtXdCR3M5q6Yvrpibw8FTax5Ekhlj23aTkWz4jJX9etFgWAjo4Y=';

/** A workspace with one key, and how to use it. */
async function withKey(wanted: Parameters<typeof storedKey>[1] = {}) {
  const w = await workspace();
  const stored = await storedKey(w.live, wanted);
  const { text: key } = await w.key();
  const use = (verb: string, body: unknown, headers: Record<string, string> = {}) =>
    call('POST', `/crypto/keys/${encodeURIComponent(stored.name)}/${verb}`, { key, body, headers });
  const raw = (verb: string, body: string) => call('POST', `/crypto/keys/${encodeURIComponent(stored.name)}/${verb}`, { key, raw: body });
  const audits = async () => {
    await flushUses();
    return db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: stored.id }, orderBy: { seq: 'asc' } });
  };
  return { w, ...stored, key, use, raw, audits };
}

const refusal = ({ status, body }: { status: number; body: { error?: { type: string } } }) => [status, body.error?.type];

test('ciphertexts of the specification decrypt, in either layout, empty, and with associated data', async () => {
  const { use } = await withKey({ secrets: [bytes(32)] });
  const rows: [Record<string, string>, string][] = [
    [{ ciphertext: VECTOR }, PLAINTEXT],
    [{ ciphertext: 'vault:v1:oKGio6SlpqeoqaqrrHkSSGWPbdpORbPiMlf160WBYCOjhgrV3QkdzOaumL66Ym8PBU0=' }, PLAINTEXT],
    [{ ciphertext: VECTOR.replace('svc:', 'vault:') }, PLAINTEXT],
    [{ ciphertext: 'svc:v1:oKGio6SlpqeoqaqrXGmWJa9Lk6D4IgoqYRnF0A==' }, ''],
    [
      {
        ciphertext: 'svc:v1:oKGio6SlpqeoqaqregsN27VnzdvDiwzKWZsaCqx5Ekhlj23aTkWz4jJX9etFgWAjo4Y=',
        associated_data_b64: b64('row:42'),
      },
      PLAINTEXT,
    ],
  ];
  for (const [body, plaintext] of rows) {
    assert.deepEqual((await use('decrypt?format=utf8', body)).body.data, { plaintext, key_version: 1 });
    const answer = await use('decrypt', body);
    assert.deepEqual(
      [answer.body.data, answer.headers.get('cache-control')],
      [{ plaintext_b64: b64(plaintext), key_version: 1 }, 'no-store'],
    );
  }
});

test('what is encrypted decrypts again: text, bytes, nothing, NUL and everything else', async () => {
  const { use } = await withKey({ versions: 3 });
  for (const plaintext of [PLAINTEXT, '', '\0', 'a\0b', '🔑 Ünïcode', '\ufeffbom', '"\\\u2028']) {
    const encrypted = await use('encrypt', { plaintext });
    assert.equal(encrypted.body.data.key_version, 3, encrypted.text);
    assert.match(encrypted.body.data.ciphertext, /^svc:v3:[A-Za-z0-9+/]+=*$/);
    assert.equal((await use('decrypt?format=utf8', encrypted.body.data)).body.data.plaintext, plaintext);
  }
  const plaintext_b64 = b64(bytes(256));
  const { ciphertext } = (await use('encrypt', { plaintext_b64 })).body.data;
  assert.deepEqual((await use('decrypt', { ciphertext })).body.data, { plaintext_b64, key_version: 3 });
  assert.deepEqual(refusal(await use('decrypt?format=utf8', { ciphertext })), [400, 'validation_error']);
  const again = (await use('rewrap', { ciphertext })).body.data;
  assert.notEqual(again.ciphertext, ciphertext);
  assert.equal((await use('decrypt', again)).body.data.plaintext_b64, plaintext_b64);
});

test('MACs and signatures of the specification are made and verified', async () => {
  const rows: [KeyType, Uint8Array, string][] = [
    ['hmac-sha256', bytes(32), 'svc:v1:U8QCcqcMFcpO4K9N8fFV/WxB4AziMH2Jh+zUuzan6ZA='],
    ['hmac-sha512', bytes(64), 'svc:v1:o2i57pPA25qmYTZRAgAy57ibKMZko6jBMZsrZhapaFTNiDB7yZfocotQ1AJ63Amtkq39Ipg/+DX1hE1z7DOb3A=='],
    [
      'ed25519',
      Buffer.from(`302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60`, 'hex'),
      'svc:v1:URykl8TUJwsJixr9WuTjuVGl2iydpunAUo9XYYg2duffbkwPDhtaCkRE9CmLGILdgi+xEzy9Sav7mWyHzVuFBg==',
    ],
  ];
  for (const [key_type, secret, signature] of rows) {
    const { use, audits } = await withKey({ key_type, secrets: [secret] });
    assert.deepEqual((await use('sign', { data: 'hello' })).body.data, { signature, key_version: 1 });
    const bare = signature.slice('svc:v1:'.length);
    for (const spelling of [signature, signature.replace('svc', 'vault'), bare, Buffer.from(bare, 'base64').toString('base64url')])
      assert.deepEqual((await use('verify', { data_b64: b64('hello'), signature: spelling })).body.data, { valid: true, key_version: 1 });
    for (const wrong of [
      { data: 'hullo', signature },
      { data: 'hello', signature: signature.replace('v1', 'v7') },
    ]) {
      const { valid } = (await use('verify', wrong)).body.data;
      assert.equal(valid, false);
    }
    assert.deepEqual(
      (await audits()).map(({ action, details }) => [action, (details as { operation: string }).operation]),
      [['execute', 'sign']],
      'verifying is counted, not audited',
    );
  }
});

test('claims are signed and shown as they were sent, or refused', async () => {
  const { use, raw } = await withKey({ key_type: 'ed25519' });
  const claims = '{"sub":"u","id":7615917337495251231,"rate":1.10,"2":1,"1":2,"__proto__":{"x":1},"constructor":[-0,1e400]}';
  const times = '"iat":1767225600,"exp":4102444800';
  const sent = `${claims.slice(0, -1)}, "iat" : 1767225600,\n "exp":4102444800}`;
  const { token } = (await raw('jwt', `{"claims":${sent}}`)).body.data;
  assert.equal(payloadOf(token), `${claims.slice(0, -1)},${times}}`);
  const verdict = await use('jwt/verify', { token });
  assert.ok(verdict.text.includes(`"claims":${claims.slice(0, -1)},${times}}`), verdict.text);
  const issued = payloadOf((await raw('jwt', `{"claims":${claims},"ttl_seconds":60}`)).body.data.token);
  assert.ok(issued.startsWith(`${claims.slice(0, -1)},"iat":`), issued);
  for (const refused of ['{"sub":"a","sub":"b"}', '{"exp":1e400}', '{"iat":1767225600.5}', '{"nbf":9007199254740993}', '[1]', '"sub"', '1'])
    assert.deepEqual(refusal(await raw('jwt', `{"claims":${refused}}`)), [400, 'validation_error'], refused);
});

const payloadOf = (token: string) => Buffer.from(token.split('.')[1] as string, 'base64url').toString();

test('the JWTs of the specification are signed and verified, and webhooks in every format', async () => {
  const id = '5b1c7d2e-8f40-4c1a-9a55-0d2f3c4b5a61';
  const { use, audits } = await withKey({ id, key_type: 'hmac-sha256', secrets: [bytes(32)] });
  const claims = { sub: 'user_1', iat: 1_767_225_600, exp: 1_767_229_200 };
  const token =
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjViMWM3ZDJlLThmNDAtNGMxYS05YTU1LTBkMmYzYzRiNWE2MS52MSJ9.eyJzdWIiOiJ1c2VyXzEiLCJpYXQiOjE3NjcyMjU2MDAsImV4cCI6MTc2NzIyOTIwMH0.Atf7rXSNCNcqA1k-ecrM78xRW7T-XfvGQcb9evSSe1E';
  assert.deepEqual((await use('jwt', { claims })).body.data, { token, key_version: 1, alg: 'HS256' });
  assert.deepEqual((await use('jwt/verify', { token })).body.data, { valid: false, error: 'expired', kid: `${id}.v1` });
  const fresh = (await use('jwt', { claims: { sub: 'user_1', aud: ['a', 'b'], 'odd\0claim': 1 }, ttl_seconds: 60 })).body.data.token;
  const verdict = (await use('jwt/verify', { token: fresh, expected: { aud: 'b', sub: 'user_1' } })).body.data;
  assert.deepEqual([verdict.valid, verdict.claims.sub, verdict.key_version, verdict.alg], [true, 'user_1', 1, 'HS256']);
  assert.equal((await use('jwt/verify', { token: fresh, expected: { sub: 'user_2' } })).body.data.error, 'sub_mismatch');
  assert.deepEqual(refusal(await use('jwt', { claims: {}, header_overrides: { kid: 'x' } })), [400, 'validation_error']);

  const signed = async (format?: string) =>
    (await use('webhook-sign', { payload: '{"id":"evt_1"}', timestamp_seconds: 1_767_225_600, ...(format ? { format } : {}) })).body.data;
  const sha = 'sha256=11c59e1533eddddb4836004e34dadcceb388a3e3476854ae230f3055542ac69f';
  const stripe = 't=1767225600,v1=b1d278ba1b37d4887f1211e5cc93632109dacbb7ababdeb7fce503edd04afeb3';
  assert.deepEqual(await signed(), {
    signature_header: stripe,
    headers: { 'Stripe-Signature': stripe },
    timestamp_seconds: 1_767_225_600,
    key_version: 1,
    format: 'stripe',
  });
  const slack = 'v0=9f18dc9a52d1cffa94f8bc3f99465190cc5742d84c8b2c7d0114e68a276d7be0';
  assert.deepEqual((await signed('slack')).headers, { 'X-Slack-Signature': slack, 'X-Slack-Request-Timestamp': '1767225600' });
  assert.deepEqual((await signed('github')).headers, { 'X-Hub-Signature-256': sha });
  assert.deepEqual((await signed('legacy')).headers, { 'X-Webhook-Signature': sha });
  assert.equal((await signed('aws-sns')).signature_header, 'EcWeFTPt3dtINgBONNrczrOIo+NHaFSuIw8wVVQqxp8=');

  const details = (await audits()).map((row) => row.details as Record<string, unknown>);
  assert.deepEqual(
    [details[0]?.operation, details[0]?.alg, details[0]?.sub, details[0]?.exp, details[0]?.key_version],
    ['jwt_sign', 'HS256', 'user_1', 1_767_229_200, 1],
  );
  assert.ok(!JSON.stringify(details).includes(token.slice(-20)), 'never the token');
});

test('every refusal of the error table', async () => {
  const { w, use, name, key, versions, id } = await withKey({ secrets: [bytes(32), bytes(32), bytes(32), bytes(32)] });
  const at = (version: number) => VECTOR.replace('v1', `v${version}`);
  await destroyVersion(versions[1] as string);
  const table: [string, string, unknown, number, string][] = [
    ['both plaintexts', 'encrypt', { plaintext: 'a', plaintext_b64: 'YQ==' }, 400, 'validation_error'],
    ['neither', 'encrypt', {}, 400, 'validation_error'],
    ['url-safe base64', 'encrypt', { plaintext_b64: '_w' }, 400, 'validation_error'],
    ['a lone surrogate', 'encrypt', { plaintext: '\ud800' }, 400, 'validation_error'],
    ['over a mebibyte', 'encrypt', { plaintext: 'x'.repeat(1_048_577) }, 400, 'validation_error'],
    ['too much associated data', 'encrypt', { plaintext: 'a', associated_data_b64: b64('x'.repeat(4_097)) }, 400, 'validation_error'],
    ['a context of a key that is not derived', 'encrypt', { plaintext: 'a', context_b64: 'YQ==' }, 400, 'validation_error'],
    ['a body over 2 MiB', 'encrypt', { plaintext: 'a', other: 'x'.repeat(2 * 1_048_576) }, 413, 'payload_too_large'],
    ['a key that signs nothing', 'sign', { data: 'a' }, 400, 'validation_error'],
    ['no ciphertext', 'decrypt', {}, 400, 'validation_error'],
    ['no version', 'decrypt', { ciphertext: VECTOR.replace('v1:', '') }, 400, 'validation_error'],
    ['a leading zero', 'decrypt', { ciphertext: VECTOR.replace('v1', 'v01') }, 400, 'validation_error'],
    ['too short', 'decrypt', { ciphertext: `svc:v1:${b64(bytes(27))}` }, 400, 'validation_error'],
    ['two spellings of base64', 'decrypt', { ciphertext: VECTOR.replace('o4Y=', 'o4Z=') }, 400, 'validation_error'],
    ['changed', 'decrypt', { ciphertext: VECTOR.replace('oKGi', 'oKGj') }, 400, 'decrypt_failed'],
    ['other associated data', 'decrypt', { ciphertext: VECTOR, associated_data_b64: 'YQ==' }, 400, 'decrypt_failed'],
    ['an unknown version', 'decrypt', { ciphertext: at(99) }, 400, 'decrypt_failed'],
    ['a destroyed version', 'decrypt', { ciphertext: at(2) }, 410, 'key_version_destroyed'],
    ['a destroyed version, rewrapped', 'rewrap', { ciphertext: at(2) }, 410, 'key_version_destroyed'],
    ['another format', 'decrypt?format=hex', { ciphertext: VECTOR }, 400, 'validation_error'],
  ];
  for (const [what, verb, body, status, type] of table) assert.deepEqual(refusal(await use(verb, body)), [status, type], what);
  const [wrong, unknown] = [
    await use('decrypt', { ciphertext: VECTOR.replace('oKGi', 'oKGj') }),
    await use('decrypt', { ciphertext: at(99) }),
  ];
  assert.equal(wrong.body.error.message, unknown.body.error.message, 'one message for every cause');

  await db().crypto_keys.update({ where: { id }, data: { min_decryption_version: 3 } });
  assert.deepEqual(refusal(await use('decrypt', { ciphertext: VECTOR })), [400, 'key_version_disabled']);
  assert.equal((await use('decrypt', { ciphertext: at(3) })).status, 200);

  for (const managed_by of ['vault', 'service'] as const) {
    const managed = await storedKey(w.live, { managed_by, name: `${managed_by} key` });
    for (const verb of ['encrypt', 'decrypt', 'rewrap', 'datakey']) {
      const answer = await call('POST', `/crypto/keys/${managed.id}/${verb}`, {
        key,
        body: verb === 'encrypt' ? { plaintext: 'a' } : { ciphertext: VECTOR },
      });
      assert.deepEqual(refusal(answer), [409, 'key_managed'], verb);
    }
  }
  const foreign = await withKey();
  for (const ref of [foreign.id, foreign.name, newId(), 'nothing']) {
    const answer = await call('POST', `/crypto/keys/${encodeURIComponent(ref)}/encrypt`, { key, body: { plaintext: 'a' } });
    assert.deepEqual(refusal(answer), [404, 'not_found'], ref);
  }
  const editor = (await w.key('live', 'Key - Editor')).text;
  for (const verb of ['decrypt', 'rewrap']) {
    const answer = await call('POST', `/crypto/keys/${name}/${verb}`, { key: editor, body: { ciphertext: at(3) } });
    assert.deepEqual(refusal(answer), [403, 'forbidden'], verb);
  }
  await db().tenant_master_keys.updateMany({ where: { tenant_id: w.tenant.id }, data: { wrapped_key: null } });
  keyring().evict(w.tenant.id);
  const sealed = await use('encrypt', { plaintext: 'a' });
  assert.deepEqual([...refusal(sealed), sealed.headers.get('retry-after')], [503, 'tenant_sealed', '30']);
});

test('a decryption is in the audit log before it is answered, with its reason, and never answered without', async () => {
  const { w, use, audits } = await withKey({ secrets: [bytes(32)] });
  assert.equal((await use('decrypt', { ciphertext: VECTOR }, { 'x-reveal-reason': 'ticket%20812' })).status, 200);
  // Not flushed: the entry is there when the answer is.
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id } });
  const details = entry?.details as Record<string, unknown>;
  assert.deepEqual(
    [entry?.action, entry?.resource_type, details.key_version, details.reason],
    ['transit.decrypt', 'crypto_key', 1, 'ticket 812'],
  );
  assert.deepEqual(refusal(await use('decrypt', { ciphertext: VECTOR }, { 'x-reveal-reason': '%' })), [400, 'validation_error']);

  const release = await refuseAuditEntries(w);
  try {
    for (const [verb, body] of [
      ['decrypt', { ciphertext: VECTOR }],
      ['decrypt?format=utf8', { batch: [{ ciphertext: VECTOR }] }],
      ['datakey', { include_plaintext: true }],
    ] as const) {
      const answer = await use(verb, body);
      assert.deepEqual([...refusal(answer), answer.headers.get('retry-after')], [503, 'audit_unavailable', '5'], verb);
      assert.ok(!answer.text.includes(PLAINTEXT) && !answer.text.includes(b64(PLAINTEXT)));
    }
  } finally {
    await release();
  }
  assert.equal((await audits()).length, 1);
});

test('data keys: three lengths, in plaintext only for who may decrypt, under the associated data they were made with', async () => {
  const { w, use, name, audits } = await withKey();
  for (const bits of [128, 256, 512]) {
    const { data } = (await use('datakey', { bits, include_plaintext: true, associated_data_b64: 'YQ==' })).body;
    assert.equal(Buffer.from(data.plaintext_b64, 'base64').length, bits / 8);
    const opened = await use('decrypt', { ciphertext: data.ciphertext, associated_data_b64: 'YQ==' });
    assert.equal(opened.body.data.plaintext_b64, data.plaintext_b64);
  }
  assert.deepEqual(Object.keys((await use('datakey', {})).body.data), ['ciphertext', 'key_version']);
  assert.deepEqual(refusal(await use('datakey', { bits: 192 })), [400, 'validation_error']);
  const editor = (await w.key('live', 'Key - Editor')).text;
  const ask = (include_plaintext: boolean) => call('POST', `/crypto/keys/${name}/datakey`, { key: editor, body: { include_plaintext } });
  assert.deepEqual([refusal(await ask(true)), (await ask(false)).status], [[403, 'forbidden'], 200]);
  assert.ok((await audits()).every(({ details }) => !('plaintext_b64' in (details as object))));
});

test('a derived key needs its context, and a convergent one gives equal texts equal ciphertexts', async () => {
  const { use } = await withKey({ extra: { derived: true, convergent: true } });
  const context_b64 = b64('tenant-1');
  const [a, b, other] = [
    await use('encrypt', { plaintext: 'x', context_b64 }),
    await use('encrypt', { plaintext: 'x', context_b64 }),
    await use('encrypt', { plaintext: 'x', context_b64: b64('tenant-2') }),
  ].map(({ body }) => body.data.ciphertext as string);
  assert.ok(a === b && a !== other);
  assert.equal((await use('decrypt?format=utf8', { ciphertext: a, context_b64 })).body.data.plaintext, 'x');
  assert.equal((await use('rewrap', { ciphertext: a, context_b64 })).body.data.ciphertext, a);
  assert.deepEqual(refusal(await use('decrypt', { ciphertext: a, context_b64: b64('tenant-2') })), [400, 'decrypt_failed']);
  assert.deepEqual(refusal(await use('decrypt', { ciphertext: a })), [400, 'validation_error']);
  assert.deepEqual(refusal(await use('encrypt', { plaintext: 'x', context_b64, associated_data_b64: 'YQ==' })), [400, 'validation_error']);
});

test('a batch keeps its order, fails by item, and leaves one entry', async () => {
  const { use, audits } = await withKey({ secrets: [bytes(32)] });
  const { batch_results } = (await use('encrypt', { batch: [{ plaintext: 'a' }, {}, { plaintext_b64: 'Yg==' }] })).body.data;
  assert.deepEqual([batch_results[0].key_version, batch_results[1].error.type, batch_results[2].key_version], [1, 'validation_error', 1]);
  const decrypted = await use('decrypt?format=utf8', {
    batch: [
      { ciphertext: batch_results[0].ciphertext },
      { ciphertext: VECTOR.replace('oKGi', 'oKGj') },
      { ciphertext: batch_results[2].ciphertext },
    ],
  });
  assert.deepEqual(
    decrypted.body.data.batch_results.map((one: { plaintext?: string; error?: { type: string } }) => one.plaintext ?? one.error?.type),
    ['a', 'decrypt_failed', 'b'],
  );
  const rewrapped = await use('rewrap', { batch: [{ ciphertext: VECTOR }] });
  assert.match(rewrapped.body.data.batch_results[0].ciphertext, /^svc:v1:/);
  const entries = (await audits()).map(({ action, details }) => {
    const { operation = '', items, failed } = details as Record<string, unknown>;
    return `${action} ${operation} ${items} ${failed}`;
  });
  assert.deepEqual(entries.sort(), ['execute encrypt 2 1', 'execute rewrap 1 0', 'transit.decrypt  2 1']);
  assert.deepEqual(refusal(await use('decrypt', { batch: [{ ciphertext: VECTOR.replace('oKGi', 'oKGj') }] })), [400, 'validation_error']);
  for (const batch of [[], Array(251).fill({ plaintext: 'a' })])
    assert.deepEqual(refusal(await use('encrypt', { batch })), [400, 'validation_error']);
  assert.deepEqual(refusal(await use('encrypt', { plaintext: 'a', batch: [{ plaintext: 'a' }] })), [400, 'validation_error']);
  const full = await use('encrypt', { batch: Array(250).fill({ plaintext: 'a' }) });
  assert.equal(full.body.data.batch_results.length, 250);

  const signer = await withKey({ key_type: 'rsa-2048' });
  const signed = (await signer.use('sign', { batch: [{ data: 'a' }, { data: 'b', rsa_padding: 'pkcs1' }, { data: 'c', hash: 'md5' }] }))
    .body.data;
  assert.equal(signed.batch_results[2].error.type, 'validation_error');
  const verdicts = await signer.use('verify', {
    batch: [
      { data: 'a', signature: signed.batch_results[0].signature },
      { data: 'b', signature: signed.batch_results[1].signature },
      { data: 'b', rsa_padding: 'pkcs1v15', signature: signed.batch_results[1].signature },
    ],
  });
  assert.deepEqual(
    verdicts.body.data.batch_results.map(({ valid }: { valid: boolean }) => valid),
    [true, false, true],
  );
});

test('old versions verify until the minimum rises, JWTs stay with the version that verifiers know, and a worn version says so', async () => {
  const { use, id, versions } = await withKey({ key_type: 'hmac-sha256', versions: 2 });
  await db().crypto_keys.update({ where: { id }, data: { jwt_version: 1, jwt_version_from: new Date(Date.now() + 300_000) } });
  const { token, key_version } = (await use('jwt', { claims: { sub: 'a' } })).body.data;
  assert.equal(key_version, 1);
  const { signature } = (await use('sign', { data: 'x' })).body.data;
  assert.match(signature, /^svc:v2:/);
  assert.equal((await use('jwt/verify', { token })).body.data.valid, true);
  await db().crypto_keys.update({ where: { id }, data: { min_encryption_version: 2 } });
  assert.equal((await use('jwt', { claims: {} })).body.data.key_version, 2);
  await db().crypto_keys.update({ where: { id }, data: { min_decryption_version: 2 } });
  assert.equal((await use('jwt/verify', { token })).body.data.error, 'version_disabled');
  await destroyVersion(versions[0] as string);
  assert.equal((await use('jwt/verify', { token })).body.data.error, 'version_destroyed');

  const aes = await withKey();
  assert.equal((await aes.use('encrypt', { plaintext: 'a' })).body.meta.warnings, undefined);
  await db().crypto_key_versions.update({ where: { id: aes.versions[0] as string }, data: { encrypt_count: 2n ** 31n } });
  assert.match((await aes.use('encrypt', { plaintext: 'a' })).body.meta.warnings[0], /Rotate the key/);
});

test('an idempotency key replays the answer without doing anything again, and opens only with its text', async () => {
  const { w, use, audits } = await withKey({ secrets: [bytes(32)] });
  const header = { 'idempotency-key': 'a-key-only-the-client-knows' };
  for (const [verb, body] of [
    ['encrypt', { plaintext: PLAINTEXT }],
    ['decrypt?format=utf8', { ciphertext: VECTOR }],
    ['datakey', { include_plaintext: true }],
  ] as const) {
    const headers = { 'idempotency-key': `${header['idempotency-key']}-${verb}` };
    const first = await use(verb, body, headers);
    const count = (await audits()).length;
    const again = await use(verb, body, headers);
    assert.deepEqual([again.status, again.text, again.headers.get('x-idempotent-replay')], [200, first.text, 'true'], verb);
    assert.equal((await audits()).length, count, 'a replay writes no entry');
    assert.deepEqual(refusal(await use(verb, { ...body, other: 1 }, headers)), [422, 'idempotency_key_reuse']);
  }
  // What the service itself can open is sealed once more.
  const rows = await db().idempotency_keys.findMany({ where: { tenant_id: w.tenant.id } });
  assert.equal(rows.length, 3);
  for (const row of rows) {
    const place = { tenant_id: w.tenant.id, space: 'live' as const, purpose: 'idempotency_response' as const, row_id: row.id };
    const opened = await keyring().openValue(place, {
      value_ct: row.body_ct as Uint8Array,
      cek_wrapped: row.cek_wrapped as Uint8Array,
      tmk_version: row.body_tmk as number,
    });
    assert.ok(!opened.includes('"data"'));
  }
});

test('nothing that is encrypted, decrypted, signed or verified is anywhere else afterwards', async (t) => {
  const canary = `canary-${newId()}`;
  const lines: string[] = [];
  tellOutages(); // what earlier tests met is counted no longer
  // Lines as they were before what is shaped like a credential was masked in them.
  const stream =
    (log as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym as unknown as symbol] ?? assert.fail();
  const write = stream.write.bind(stream);
  t.mock.method(stream, 'write', (line: string) => {
    lines.push(line);
    write(line);
  });
  const { use, w } = await withKey();
  const hmac = await withKey({ key_type: 'hmac-sha256' });
  const { ciphertext } = (await use('encrypt', { plaintext: canary })).body.data;
  const { data } = (await use('datakey', { include_plaintext: true }, { 'idempotency-key': 'k' })).body;
  await use('decrypt?format=utf8', { ciphertext }, { 'idempotency-key': 'l' });
  await use('decrypt', { ciphertext, associated_data_b64: b64(canary) });
  await use('encrypt', { plaintext: canary, plaintext_b64: b64(canary) });
  const { token } = (await hmac.use('jwt', { claims: { note: canary } })).body.data;
  const { signature } = (await hmac.use('sign', { data: canary })).body.data;
  await hmac.use('jwt/verify', { token: `${token}x` });
  await hmac.use('webhook-sign', { payload: canary });
  const release = await refuseAuditEntries(w);
  await use('decrypt?format=utf8', { ciphertext });
  await release();
  await flushUses();
  const planted = [
    canary,
    b64(canary),
    b64(canary).replace(/=+$/, ''),
    Buffer.from(canary).toString('hex'),
    data.plaintext_b64,
    ciphertext,
    token,
    signature,
  ];
  const { rows: tables } = await sql().query<{ name: string }>(
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  for (const { name } of tables) {
    const { rows } = await sql().query<{ n: string }>(
      `select count(*) as n from ${name} r where exists (select from unnest($1::text[]) c where r::text like '%' || c || '%')`,
      [planted],
    );
    assert.equal(Number(rows[0]?.n), 0, `${name} holds plaintext`);
  }
  assert.ok(
    lines.some((line) => line.includes('takes no row')),
    'the log was read',
  );
  for (const one of planted) assert.ok(!lines.some((line) => line.includes(one)), 'the log holds plaintext');
});
