// @peculiar/x509 refuses to load without this polyfill.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import test from 'node:test';
import * as x509 from '@peculiar/x509';
import { handle } from '#server/api/handle.ts';
import { SPELLED_OUT_REQUEST } from '#server/crypto/named-curve.fixture.ts';
import { memberCapabilities, PERSON_FORBIDDEN } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { flushMeters } from '#server/platform/monthly-meter.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { spendQuota } from './issuing.ts';
import { requestFor, roleOfRoot } from './samples.fixture.ts';
import { KEY_ALGORITHMS } from './schema.ts';
import type { RootRow } from './store.ts';

await testDatabase();

const DAY = 24 * 3_600_000;
const SUBJECT = { CN: 'Acme Internal CA', O: 'Acme', C: 'us' };
const rootOf = async (ctx: Ctx, input: Record<string, unknown> = {}) =>
  (await made(ctx, 'pki.create_root', { name: fresh('root'), subject: SUBJECT, ...input })).root;
const issue = (ctx: Ctx, at: { name: string; role: string }, input: Record<string, unknown> = { subject: { CN: 'api.example.com' } }) =>
  made(ctx, 'pki.issue', { ...at, ...input });
const chainOf = (pem: string) => pem.split(/(?<=-----END CERTIFICATE-----\n)/).map((one) => new X509Certificate(one));
/** The context of the same caller at another time. */
const at = (ctx: Ctx, ms: number): Ctx => ({ ...ctx, now: new Date(ctx.now.getTime() + ms), warnings: [] });

test('a root signs an intermediate, which signs a leaf, and each checks with the one above', async () => {
  const { live } = await workspace();
  const { name, role } = await roleOfRoot(live);
  const leaf = await issue(live, { name, role }, { subject: { CN: 'API.example.com.', O: null, OU: 'Platform' }, san_ip: ['10.0.0.1'] });
  const [intermediate, top] = chainOf(leaf.ca_chain_pem) as [X509Certificate, X509Certificate];
  const certificate = new X509Certificate(leaf.cert_pem);
  assert.ok(certificate.verify(intermediate.publicKey) && intermediate.verify(top.publicKey) && top.verify(top.publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(leaf.private_key_pem)));
  assert.equal(certificate.subject, 'OU=Platform\nCN=api.example.com');
  assert.equal(certificate.subjectAltName, 'DNS:api.example.com, IP Address:10.0.0.1');
  assert.equal(certificate.serialNumber.toLowerCase(), leaf.serial_hex);
  assert.equal((await made(live, 'pki.get_root', { name })).cert_pem, top.toString());
});

test('what a name may be is the role’s to say, and the refusal names both', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live, { allow_ip_sans: false });
  const refused = (input: Record<string, unknown>, message: RegExp) =>
    assert.rejects(issue(live, place, input), (error: { type: string; message: string }) => {
      assert.equal(error.type, 'validation_error');
      assert.match(error.message, message);
      return true;
    });
  await refused(
    { subject: { CN: 'evil.com' } },
    new RegExp(`^subject\\.common_name: the role ${place.role} doesn't allow the name "evil\\.com"`),
  );
  await refused({ subject: {}, san_dns: ['a.example.com', 'example.com.evil.com'] }, /^san_dns\.1: .*example\.com\.evil\.com/);
  await refused({ subject: {}, san_dns: ['*.example.com'] }, /^san_dns\.0: the role/);
  await refused({ subject: {}, san_dns: ['10.0.0.1'] }, /is an address\. Send it in san_ip/);
  await refused({ subject: {}, san_dns: ['a.example.com'], san_ip: ['::1'] }, /^san_ip\.0: the role .* allows no IP addresses/);
  await refused({ subject: { CN: '10.0.0.1' } }, /allows no IP addresses/);
  await refused({ subject: { CN: 'Jane Doe' } }, /doesn't allow the name "Jane Doe"/);
  await refused({ subject: { O: 'Acme' } }, /must have a common_name unless/);
  await refused({ subject: { CN: 'a.example.com', common_name: 'a.example.com' } }, /is given as common_name already/);
  await refused({ subject: { CN: 'a.example.com', EMAIL: 'x@example.com' } }, /EMAIL/);
  await refused({ subject: { CN: 'a.example.com\u0000.evil.com' } }, /control characters/);
  await made(live, 'pki.update_role', { ...place, allowed_domains: [] });
  await refused({ subject: { CN: 'example.com' } }, /doesn't allow/);
  await made(live, 'pki.update_role', { ...place, allowed_domains: ['*'] });
  const person = await issue(live, place, { subject: { CN: 'Jane Doe' } });
  assert.equal(new X509Certificate(person.cert_pem).subjectAltName, undefined);
});

test('a leaf lasts no longer than it was asked for, its role, its intermediate and the space allow', async () => {
  const w = await workspace();
  const place = await roleOfRoot(w.live, { default_ttl_seconds: 7_200, max_ttl_seconds: 86_400 * 60 });
  const lasts = async (ctx: Ctx, input: object) => {
    const { not_after } = await issue(ctx, place, { subject: { CN: 'example.com' }, ...input });
    // A certificate's time is a whole second: what is left of the one that the call was made in goes.
    return Math.ceil((Date.parse(not_after) - ctx.now.getTime()) / 1_000);
  };
  assert.equal(await lasts(w.live, {}), 7_200);
  assert.equal(await lasts(w.live, { ttl_seconds: 90 }), 90);
  await made(w.live, 'pki.update_role', { ...place, max_ttl_seconds: 7_200 });
  const cut = { ...w.live, warnings: [] as string[] };
  assert.equal(await lasts(cut, { ttl_seconds: 8_000 }), 7_200);
  assert.match(cut.warnings[0] ?? '', /sooner than ttl_seconds asks for: the role allows no more/);
  await made(w.live, 'pki.update_role', { ...place, max_ttl_seconds: 86_400 * 400 });
  const late = at(w.live, 0);
  assert.ok(Math.abs((await lasts(late, { ttl_seconds: 86_400 * 365 })) - 86_400 * 135) <= 2, 'the intermediate ends first');
  assert.match(late.warnings[0] ?? '', /its intermediate ends then/);
  const { root } = await made(w.test, 'pki.create_root', { name: 'long', subject: SUBJECT, intermediate_ttl_seconds: 86_400 * 365 });
  assert.match(root.subject, /O=Test - not for production/);
  await made(w.test, 'pki.create_role', { name: 'long', role_name: 'r', allowed_domains: ['example.com'], max_ttl_seconds: 86_400 * 300 });
  const leaf = await issue(w.test, { name: 'long', role: 'r' }, { subject: { CN: 'example.com' }, ttl_seconds: 86_400 * 200 });
  assert.ok(Date.parse(leaf.not_after) - w.test.now.getTime() <= 30 * DAY);
  assert.match(new X509Certificate(leaf.cert_pem).subject, /O=Test - not for production/);
  // Of several bounds, the warning names the one that the end comes from.
  for (const [max, ttl_seconds, intermediate_days, why] of [
    [90, 90, 365, 'certificates of Test last 30 days at most'],
    [20, 90, 365, 'the role allows no more'],
    [90, 90, 10, 'its intermediate ends then'],
    [9, 90, 10, 'the role allows no more'],
  ] as const) {
    const name = fresh('bound');
    await made(w.test, 'pki.create_root', { name, subject: SUBJECT, intermediate_ttl_seconds: 86_400 * intermediate_days });
    await made(w.test, 'pki.create_role', { name, role_name: 'r', allowed_domains: ['example.com'], max_ttl_seconds: 86_400 * max });
    const ctx = { ...w.ctx('test'), warnings: [] as string[] };
    await issue(ctx, { name, role: 'r' }, { subject: { CN: 'example.com' }, ttl_seconds: 86_400 * ttl_seconds });
    assert.deepEqual(
      ctx.warnings.map((warning) => warning.split(': ').at(-1)),
      [`${why}.`],
    );
  }
});

test('a root and a role that are made with defaults issue for the whole of the default lifetime, with keys of ours and of requests', async () => {
  const { live } = await workspace();
  const name = fresh('root');
  const created = await made(live, 'pki.create_root', { name, subject: { CN: 'Defaults' } });
  for (const key_algorithm of KEY_ALGORITHMS) {
    const role = fresh('role');
    const shown = await made(live, 'pki.create_role', { name, role_name: role, allowed_domains: ['example.com'], key_algorithm });
    // An intermediate is replaced when a third of it is left, by a worker that looks each hour.
    const whole = Date.parse(created.intermediate_not_after) - live.now.getTime();
    for (const age of [0, (whole * 2) / 3 - 3_600_000]) {
      const ctx = at(live, age);
      const leaf = await issue(ctx, { name, role });
      assert.ok(
        Date.parse(leaf.not_after) - ctx.now.getTime() > shown.default_ttl_seconds * 1_000 - 1_000,
        `${key_algorithm} after ${age} ms`,
      );
      const signed = await made(ctx, 'pki.sign', { name, role, csr_pem: await requestFor(['api.example.com']) });
      assert.deepEqual([signed.not_after, ctx.warnings], [leaf.not_after, []]);
      const { keyUsage } = new X509Certificate(leaf.cert_pem);
      assert.deepEqual(keyUsage?.sort(), ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    }
    assert.ok(shown.max_ttl_seconds * 1.5 <= created.root.intermediate_ttl_seconds, 'what the page advises');
  }
  const late = at(live, Date.parse(created.intermediate_not_after) - live.now.getTime() - DAY);
  await issue(late, { name, role: (await made(live, 'pki.list_roles', { name }))[0].name });
  assert.match(late.warnings[0] ?? '', /sooner than the role says: its intermediate ends then/);
});

test('what a role leaves out follows from what it says', async () => {
  const { live } = await workspace();
  const { name } = await rootOf(live);
  const create = (input: object) => made({ ...live, warnings: [] }, 'pki.create_role', { name, role_name: fresh('role'), ...input });
  assert.deepEqual(
    [(await create({ max_ttl_seconds: 3_600 })).default_ttl_seconds, (await create({})).default_ttl_seconds],
    [3_600, 2_592_000],
  );
  await assert.rejects(create({ max_ttl_seconds: 3_600, default_ttl_seconds: 3_601 }), { type: 'validation_error' });
  const ctx = { ...live, warnings: [] as string[] };
  const empty = await made(ctx, 'pki.create_role', { name, role_name: fresh('role') });
  assert.match(ctx.warnings[0] ?? '', /allows no names yet\. Add the domains that it may issue for to allowed_domains/);
  await assert.rejects(issue(live, { name, role: empty.name }), { message: /its allowed_domains are empty\. Add the domains/ });
});

test('a request whose key spells its curve out is refused with the reason', async () => {
  const { live } = await workspace();
  const refusal = made(live, 'pki.sign', { ...(await roleOfRoot(live)), csr_pem: SPELLED_OUT_REQUEST });
  await assert.rejects(refusal, { type: 'validation_error', message: /^csr_pem: must name its elliptic curve.*RFC 5480 §2\.1\.1/ });
});

test('a request is certified for its own key and its own names, each judged, and nothing else of it', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const csr_pem = await requestFor(['api.example.com'], ['10.1.2.3']);
  const signed = await made(live, 'pki.sign', { ...place, csr_pem });
  assert.ok(!('private_key_pem' in signed));
  const certificate = new X509Certificate(signed.cert_pem);
  const wanted = new x509.Pkcs10CertificateRequest(csr_pem).publicKey.rawData;
  assert.deepEqual(certificate.publicKey.export({ type: 'spki', format: 'der' }), Buffer.from(wanted));
  assert.equal(certificate.subjectAltName, 'DNS:api.example.com, IP Address:10.1.2.3');
  assert.match(certificate.subject, /CN=api\.example\.com/);
  assert.ok(!certificate.subject.includes('asked for') && !certificate.ca);
  const refused = (input: object) => assert.rejects(made(live, 'pki.sign', { ...place, ...input }), { type: 'validation_error' });
  await refused({ csr_pem: await requestFor(['api.example.com', 'evil.com']) });
  await refused({ csr_pem, san_dns: ['evil.com'] });
  await refused({ csr_pem: await requestFor([]) });
  const der = Buffer.from(csr_pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
  await refused({ csr_pem: `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----` });
  const other = await made(live, 'pki.sign', { ...place, csr_pem, san_dns: ['other.example.com'] });
  assert.equal(new X509Certificate(other.cert_pem).subjectAltName, 'DNS:other.example.com');
  const data = await made(live, 'pki.get_certificate', { name: place.name, serial_hex: signed.serial_hex });
  assert.deepEqual([data.source, data.status, data.role_name], ['sign', 'valid', place.role]);
});

test('people sign requests by token, and are never given a private key by one', () => {
  assert.ok(PERSON_FORBIDDEN.has('pki:issue') && !PERSON_FORBIDDEN.has('pki:sign'));
  const editor = memberCapabilities('editor', { reveal_secrets: true });
  assert.ok(editor.has('pki:sign') && !editor.has('pki:issue') && !memberCapabilities('owner', { reveal_secrets: true }).has('pki:issue'));
});

test('a retired root issues nothing until it is active again, and a revoked one never', async () => {
  const w = await workspace();
  const place = await roleOfRoot(w.live);
  await made(w.live, 'pki.update_root', { name: place.name, status: 'retired' });
  await assert.rejects(issue(w.live, place), { type: 'root_not_active', status: 409 });
  await assert.rejects(made(w.live, 'pki.rotate_intermediate', { name: place.name }), { type: 'root_not_active' });
  await made(w.live, 'pki.update_root', { name: place.name, status: 'active' });
  await issue(w.live, place);
  await made(w.live, 'pki.update_root', { name: place.name, status: 'revoked' });
  for (const status of ['active', 'retired'])
    await assert.rejects(made(w.live, 'pki.update_root', { name: place.name, status }), { type: 'root_not_active' });
  await assert.rejects(issue(w.live, place), { type: 'root_not_active' });
  await assert.rejects(made(w.live, 'pki.sign', { ...place, csr_pem: await requestFor(['example.com']) }), { type: 'root_not_active' });
  const rows = await db().pki_intermediates.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    rows.map(({ status, value_ct, cek_wrapped }) => [status, value_ct, cek_wrapped]),
    [['revoked', null, null]],
  );
});

test('a root that is revoked while leaves are issued gets none after it', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const calls = Array.from({ length: 12 }, () =>
    issue(at(live, 0), place).then(
      () => 'issued',
      (error: { type: string }) => error.type,
    ),
  );
  const revoked = made(at(live, 0), 'pki.update_root', { name: place.name, status: 'revoked' });
  const outcomes = new Set(await Promise.all(calls));
  await revoked;
  for (const outcome of outcomes) assert.ok(['issued', 'root_not_active'].includes(outcome), outcome);
  await assert.rejects(issue(live, place), { type: 'root_not_active' });
});

test('a root is deleted once no leaf of it is left that somebody could ask about', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  await issue(live, place, { subject: { CN: 'example.com' }, ttl_seconds: 60 });
  await assert.rejects(made(live, 'pki.delete_root', { name: place.name }), { type: 'in_use', status: 409 });
  await made(at(live, 61_000), 'pki.delete_root', { name: place.name });
  for (const table of ['pki_roots', 'pki_intermediates', 'pki_crls', 'pki_roles', 'pki_certificates'])
    assert.equal((await sql().query(`select 1 from ${table} where tenant_id = $1`, [live.tenant_id])).rowCount, 0, table);
  assert.ok(await rootOf(live, { name: place.name }), 'the name is free');
});

test('a policy can be narrowed to one role of a root', async () => {
  const w = await workspace();
  const place = await roleOfRoot(w.live);
  await made(w.live, 'pki.create_role', { name: place.name, role_name: 'internal', allowed_domains: ['example.com'] });
  const owner = w.member('owner');
  await verified(owner, 'policy.change');
  const rule = {
    name: 'only internal',
    actions: ['pki:issue', 'pki:sign'],
    resources: [`${place.name}/${place.role}`],
    subjects: { all: true },
  };
  await made(owner, 'policies.create', rule);
  await assert.rejects(issue(w.live, place), { type: 'forbidden' });
  await assert.rejects(made(w.live, 'pki.sign', { ...place, csr_pem: await requestFor(['example.com']) }), { type: 'forbidden' });
  await issue(w.live, { name: place.name, role: 'internal' });
});

test('the certificates of a month are those that the plan allows, and Test has none of them', async () => {
  const w = await workspace();
  const at_ = await roleOfRoot(w.live);
  const inTest = await roleOfRoot(w.test);
  const free = { ...w.live, plan: 'free' as const };
  await sql().query('insert into tenant_limit_overrides (tenant_id, kind, value) values ($1, $2, 1)', [w.tenant.id, 'pki_certificates']);
  await issue(free, at_);
  await assert.rejects(issue(free, at_), { type: 'plan_limit', status: 402 });
  await assert.rejects(made(free, 'pki.sign', { ...at_, csr_pem: await requestFor(['example.com']) }), { type: 'plan_limit' });
  for (let i = 0; i < 3; i++) await issue({ ...w.test, plan: 'free' }, inTest);
  await flushMeters();
  assert.equal(await db().pki_certificates.count({ where: { tenant_id: w.tenant.id, sandbox: false } }), 1);
});

test('a private key is in its answer and nowhere else', async () => {
  const { live, tenant } = await workspace();
  const { private_key_pem } = await issue(live, await roleOfRoot(live));
  const body = private_key_pem.split('\n').slice(1, -2).join('');
  const bytes = Buffer.from(body, 'base64');
  const { rows } = await sql().query<{ t: string }>(
    `select c.relname as t from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and not c.relispartition`,
  );
  for (const { t } of rows) {
    const all = await sql().query<{ row: string }>(`select x::text as row from ${t} x where tenant_id = $1`, [tenant.id]);
    for (const { row } of all.rows)
      for (const form of [body.slice(60, 120), bytes.subarray(40, 60).toString('hex')]) assert.ok(!row.includes(form), t);
  }
});

test('documents come without an envelope: PEM, lists with a tag, DER byte for byte', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const root = await rootOf(w.live);
  const get = (path: string, headers = {}) => call('GET', `/pki/roots/${root.name}${path}`, { key, headers });
  const cert = await get('/cert');
  assert.deepEqual([cert.status, cert.headers.get('content-type'), cert.text], [200, 'text/x-pem-file', root.cert_pem]);
  assert.equal(chainOf((await get('/chain')).text).length, 2);
  const lists = await get('/crl');
  assert.match(lists.headers.get('content-type') ?? '', /^text\/plain/);
  assert.equal(lists.text.match(/-----BEGIN X509 CRL-----/g)?.length, 2);
  assert.equal((await get('/crl', { 'if-none-match': lists.headers.get('etag') })).status, 304);
  const one = await get('/crl?issuer=root');
  assert.ok(lists.text.endsWith(one.text));
  const answer = await handle(
    new Request(`http://api.test/v1/pki/roots/${root.name}/crl?issuer=root&format=der`, { headers: { authorization: `Bearer ${key}` } }),
    { space: 'live', ip: null, request_id: crypto.randomUUID(), user_agent: null },
  );
  assert.equal(answer.headers.get('content-type'), 'application/pkix-crl');
  const der = Buffer.from(await answer.arrayBuffer()).toString('base64');
  assert.equal(der, one.text.replace(/-----[A-Z0-9 ]+-----|\n/g, ''));
  assert.equal((await get('/crl?format=der')).status, 400);
  assert.equal((await get(`/crl?issuer=${crypto.randomUUID()}`)).status, 404);
});

test('what is foreign, in the other space, or never was is one answer', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const { text: key } = await w.key();
  const [foreign, inTest] = [await rootOf(other.live), await rootOf(w.test)];
  for (const [method, tail, body] of [
    ['GET', '', undefined],
    ['GET', '/cert', undefined],
    ['GET', '/chain', undefined],
    ['GET', '/crl', undefined],
    ['GET', '/roles', undefined],
    ['GET', '/certificates', undefined],
    ['PATCH', '', { publish: false }],
    ['DELETE', '', undefined],
    ['POST', '/rotate-intermediate', {}],
    ['POST', '/revoke', { serial_hex: '00' }],
    ['POST', '/issue/services', { subject: { CN: 'example.com' } }],
  ] as const) {
    const answers = new Set<string>();
    for (const ref of [foreign.id, foreign.name, inTest.id, inTest.name, 'never-was', crypto.randomUUID()]) {
      const { status, text, headers } = await call(method, `/pki/roots/${ref}${tail}`, { key, body });
      answers.add(`${status} ${text.replace(headers.get('x-request-id') as string, '')}`);
    }
    assert.equal(answers.size, 1, [...answers].join('\n'));
    assert.match([...answers][0] as string, /^404 /);
  }
});

test('the keys that a request may have are those of the interface, and no weaker ones', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  const pemOfRsa = async (modulusLength: number) => {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]), modulusLength };
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const extensions = [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'example.com' }])];
    return (await x509.Pkcs10CertificateRequestGenerator.create({ name: 'CN=x', keys, signingAlgorithm: algorithm, extensions })).toString(
      'pem',
    );
  };
  const signed = await made(live, 'pki.sign', { ...place, csr_pem: await pemOfRsa(2_048) });
  assert.equal(createPublicKey(signed.cert_pem).asymmetricKeyType, 'rsa');
  await assert.rejects(made(live, 'pki.sign', { ...place, csr_pem: await pemOfRsa(1_024) }), { type: 'validation_error' });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const notOne = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await assert.rejects(made(live, 'pki.sign', { ...place, csr_pem: notOne }), { type: 'validation_error' });
});

test('certificates are found by role, state, serial number, part of the subject and end', async () => {
  const { live } = await workspace();
  const place = await roleOfRoot(live);
  await made(live, 'pki.create_role', { name: place.name, role_name: 'other', allowed_domains: ['example.org'] });
  const [first, second, short] = [
    await issue(live, place, { subject: { CN: 'first.example.com' } }),
    await issue(live, { ...place, role: 'other' }, { subject: { CN: 'example.org' } }),
    await issue(live, place, { subject: { CN: 'short.example.com' }, ttl_seconds: 60 }),
  ];
  await made(live, 'pki.revoke', { name: place.name, serial_hex: second.serial_hex });
  const found = async (query: Record<string, unknown>) => {
    const ctx = at(live, 120_000);
    const rows: { serial_hex: string }[] = await made(ctx, 'pki.list_certificates', {
      name: place.name,
      sort: 'created_at',
      order: 'asc',
      ...query,
    });
    return rows.map(({ serial_hex }) => [first, second, short].findIndex((one) => one.serial_hex === serial_hex)).sort();
  };
  assert.deepEqual(await found({}), [0, 1, 2]);
  assert.deepEqual(await found({ role: 'other' }), [1]);
  assert.deepEqual(await found({ status: 'valid' }), [0]);
  assert.deepEqual(await found({ status: 'revoked' }), [1]);
  assert.deepEqual(await found({ status: 'expired' }), [2]);
  assert.deepEqual(await found({ serial_hex: first.serial_hex.toUpperCase() }), [0]);
  assert.deepEqual(await found({ subject: 'EXAMPLE.com' }), [0, 2]);
  assert.deepEqual(await found({ expiring_before: new Date(live.now.getTime() + 3_600_000).toISOString() }), [2]);
  assert.deepEqual(await found({ subject: 'first', status: 'revoked' }), []);
});

test('a root issues fifty certificates a second and has a hundred roles', async () => {
  const { live } = await workspace();
  const { name } = await roleOfRoot(live);
  const root = await db().pki_roots.findFirstOrThrow({ where: { tenant_id: live.tenant_id, name } });
  const outcomes = await Promise.all(
    Array.from({ length: 120 }, () =>
      spendQuota(live, root as RootRow).then(
        () => 'ok',
        (e: { type: string }) => e.type,
      ),
    ),
  );
  const refused = outcomes.filter((outcome) => outcome === 'rate_limit_exceeded').length;
  assert.ok(refused >= 20, `${refused} of 120 in at most two seconds`);
  const row = await db().pki_roles.findFirstOrThrow({ where: { ca_root_id: root.id } });
  const more = Array.from({ length: 99 }, (_, i) => ({ ...row, id: newId(), name: `r${i}` }));
  await db().pki_roles.createMany({ data: more });
  await assert.rejects(made(live, 'pki.create_role', { name, role_name: 'one-too-many' }), { type: 'plan_limit' });
});

test('while the workspace is sealed nothing is signed, and a certificate can still be revoked', async () => {
  const w = await workspace();
  const place = await roleOfRoot(w.live);
  const leaf = await issue(w.live, place);
  await db().tenant_master_keys.updateMany({ where: { tenant_id: w.tenant.id }, data: { wrapped_key: null } });
  keyring().evict(w.tenant.id);
  await assert.rejects(issue(w.live, place), { type: 'tenant_sealed', status: 503 });
  await assert.rejects(made(w.live, 'pki.rotate_intermediate', { name: place.name }), { type: 'tenant_sealed' });
  assert.deepEqual(await made(w.live, 'pki.revoke', { name: place.name, serial_hex: leaf.serial_hex }), { revoked: true });
  assert.equal((await made(w.live, 'pki.list_roots')).length, 1);
});

test('a person sees the key of a certificate behind the gate: two entries, one record, and a key that fits', async () => {
  const w = await workspace();
  const place = await roleOfRoot(w.live);
  const owner = w.member('owner');
  const input = { ...place, subject: { CN: 'api.example.com' } };
  const issuing = (ctx: Ctx) => made(ctx, 'pki.reveal_issue', input);
  await assert.rejects(issuing({ ...owner }), (error: { type: string }) => /mfa_required|reveal_step_up_required/.test(error.type));
  assert.equal(await db().pki_certificates.count({ where: { tenant_id: w.tenant.id } }), 0, 'what was not granted is not recorded');
  await verified(owner, 'plaintext.reveal');
  const shown = await issuing({ ...owner, request_id: newId() });
  assert.ok(new X509Certificate(shown.cert_pem).checkPrivateKey(createPrivateKey(shown.private_key_pem)));
  const record = await db().pki_certificates.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  assert.equal(record.serial_hex, shown.serial_hex);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'pki_leaf' },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries.map(({ action, resource_id, details }) => [action, resource_id, (details as { serial: string }).serial]),
    ['plaintext.reveal', 'pki.leaf.issue'].map((action) => [action, record.id, shown.serial_hex]),
  );
  await assert.rejects(issuing({ ...owner }), { type: 'reveal_step_up_required' });
});
