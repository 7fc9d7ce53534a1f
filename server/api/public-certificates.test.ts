import assert from 'node:assert/strict';
import { randomUUID, X509Certificate } from 'node:crypto';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handlePublicCertificates, isPublicPki } from './public-certificates.ts';

await testDatabase();
const w = await workspace();
const slug = w.tenant.slug;
const { root } = await made(w.live, 'pki.create_root', { name: 'corp', subject: { CN: 'Acme' } });
const base = `/pub/${slug}/pki/${root.id}`;
const intermediate = root.intermediate.id;
const ask = (path: string, init: RequestInit = {}, ip: string | null = null) =>
  handlePublicCertificates(new Request(`http://api.test${path}`, init), { space: 'live', ip, request_id: randomUUID(), user_agent: null });

test('certificates and lists are DER for anybody, with a time to keep them and a tag', async () => {
  for (const [path, type, age] of [
    ['root.crt', 'application/pkix-cert', 86_400],
    [`issuers/${intermediate}.crt`, 'application/pkix-cert', 86_400],
    ['ca.pem', 'text/x-pem-file', 300],
    ['root.crl', 'application/pkix-crl', 300],
    [`crl/${intermediate}.crl`, 'application/pkix-crl', 300],
  ] as const) {
    const answer = await ask(`${base}/${path}`);
    const { headers } = answer;
    assert.deepEqual(
      [answer.status, headers.get('content-type'), headers.get('cache-control')],
      [200, type, `public, max-age=${age}`],
      path,
    );
    const body = Buffer.from(await answer.arrayBuffer());
    assert.equal(String(body.length), headers.get('content-length'));
    const head = await ask(`${base}/${path}`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text(), head.headers.get('content-length')], [200, '', String(body.length)]);
    assert.equal((await ask(`${base}/${path}`, { headers: { 'if-none-match': headers.get('etag') as string } })).status, 304);
    const other = await ask(`${base}/${path}`, { method: 'POST' });
    assert.deepEqual([other.status, other.headers.get('allow')], [405, 'GET, HEAD']);
  }
  const top = new X509Certificate(Buffer.from(await (await ask(`${base}/root.crt`)).arrayBuffer()));
  assert.equal(top.toString(), root.cert_pem);
  const issuer = new X509Certificate(Buffer.from(await (await ask(`${base}/issuers/${intermediate}.crt`)).arrayBuffer()));
  assert.ok(issuer.verify(top.publicKey));
});

test('the addresses in a certificate are those that are served, also once the slug is another', async () => {
  const at = await workspace();
  const made_ = await made(at.live, 'pki.create_root', { name: 'corp', subject: { CN: 'Acme' } });
  await made(at.live, 'pki.create_role', { name: 'corp', role_name: 'r', allowed_domains: ['example.com'] });
  const leaf = new X509Certificate(
    (await made(at.live, 'pki.issue', { name: 'corp', role: 'r', subject: { CN: 'example.com' } })).cert_pem,
  );
  const url = /CA Issuers - URI:(\S+)/.exec(leaf.infoAccess ?? '')?.[1] ?? '';
  assert.ok(url.startsWith(made_.root.public_url));
  const renamed = `w-${randomUUID().slice(0, 8)}`;
  await db().tenants.update({ where: { id: at.tenant.id }, data: { slug: renamed } });
  const { pathname } = new URL(url);
  assert.equal((await ask(pathname)).status, 200);
  assert.equal((await ask(pathname.replace(at.tenant.slug, renamed))).status, 200);
  assert.equal((await ask(pathname.replace(at.tenant.slug, slug))).status, 404);
});

test('what is unknown, of another space or workspace, or not published is one bare 404', async () => {
  const inTest = (await made(w.test, 'pki.create_root', { name: 'corp', subject: { CN: 'Acme' } })).root;
  const hidden = (await made(w.live, 'pki.create_root', { name: 'hidden', subject: { CN: 'Acme' }, publish: false })).root;
  const other = await workspace();
  const foreign = (await made(other.live, 'pki.create_root', { name: 'corp', subject: { CN: 'Acme' } })).root;
  const paths = [
    `/pub/${slug}/pki/${inTest.id}/root.crt`,
    `/pub/${slug}/test/pki/${root.id}/root.crt`,
    `/pub/${slug}/pki/${hidden.id}/root.crt`,
    `/pub/${slug}/pki/${hidden.id}/crl/${hidden.intermediate.id}.crl`,
    `/pub/${slug}/pki/${foreign.id}/root.crt`,
    `/pub/${other.tenant.slug}/pki/${root.id}/root.crt`,
    `/pub/nobody/pki/${root.id}/root.crt`,
    `${base}/issuers/${foreign.intermediate.id}.crt`,
    `${base}/issuers/${root.id}.crt`,
    `${base}/crl/${foreign.intermediate.id}.crl`,
    `${base}/crl/${randomUUID()}.crl`,
    `${base}/root.key`,
    `${base}/`,
    `/pub/${slug}/pki/${randomUUID()}/root.crl`,
  ];
  const answers = new Set<string>();
  for (const path of paths) {
    const answer = await ask(path);
    answer.headers.delete('x-request-id');
    answers.add(JSON.stringify([answer.status, [...answer.headers], await answer.text()]));
  }
  assert.equal(answers.size, 1, [...answers].join('\n'));
  assert.match([...answers][0] as string, /^\[404,.*,""\]$/);
  assert.equal((await ask(`/pub/${slug}/test/pki/${inTest.id}/root.crt`)).status, 200);
  await made(w.live, 'pki.create_role', { name: 'hidden', role_name: 'r', allowed_domains: ['example.com'] });
  const leaf = await made(w.live, 'pki.issue', { name: 'hidden', role: 'r', subject: { CN: 'example.com' } });
  assert.equal(new X509Certificate(leaf.cert_pem).infoAccess, undefined, 'no address is named');
  assert.ok(isPublicPki(`${base}/root.crt`) && !isPublicPki(`/pub/${slug}/jwks/${root.id}.json`));
});

test('one address is answered so often a minute, and others all the same', async (t) => {
  stillClock(t);
  const statuses = new Set<number>();
  for (let i = 0; i < 605; i++) statuses.add((await ask(`${base}/root.crt`, { method: 'HEAD' }, '192.0.2.7')).status);
  assert.deepEqual(statuses, new Set([200, 429]));
  assert.equal((await ask(`${base}/root.crt`, {}, '192.0.2.8')).status, 200);
});
