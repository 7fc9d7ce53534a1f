import assert from 'node:assert/strict';
import test from 'node:test';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { localResolvers } from '#server/platform/dns-txt.fixture.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { workspace } from '#server/testing/workspace.ts';
import { claimForSso } from './holders.ts';
import * as domains from './service.ts';

await ownDatabase();
const [first, second] = await localResolvers();
let count = 0;
const name = () => `d${process.pid}-${++count}.example`;

const publish = (row: { txt_name: string; txt_value: string }, server = first) => server.records.set(row.txt_name, [[row.txt_value]]);
const statesIn = async (tenant_id: string) =>
  (await db().audit_logs.findMany({ where: { tenant_id, resource_type: 'tenant_domain' }, orderBy: { seq: 'asc' } })).map(
    ({ action, details }) => `${action} ${(details as { state?: string }).state ?? ''}`.trim(),
  );

test('a domain is stored in lower-case ASCII, and what no workspace can own is refused with the reason', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  assert.equal((await domains.createDomain(owner, { domain: ' BÜCHER-Ä1.example. ' })).domain, 'xn--bcher-1-bxa4s.example');
  for (const [domain, problem] of [
    ['gmail.com', /mailboxes for everybody/],
    ['co.uk', /public suffix/],
    ['github.io', /public suffix/],
    ['localhost', /must be a domain name/],
    ['192.0.2.1', /must be a domain name/],
    ['0x7f.1', /must be a domain name/],
    ['https://example.com', /must be a domain name/],
    ['a@example.com', /must be a domain name/],
    ['-x.example', /must be a domain name/],
    ['*.example.com', /must be a domain name/],
    [`${'a'.repeat(64)}.example`, /must be a domain name/],
  ] as const)
    await assert.rejects(async () => domains.createDomain(owner, { domain }), { type: 'validation_error', message: problem }, domain);
});

test('an exact value at either resolver verifies; everything else is refused with what was seen', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const row = await domains.createDomain(owner, { domain: name() });
  assert.match(row.txt_value, /^svc-domain-verification=[0-9A-Za-z]{32}$/);
  assert.equal(row.txt_name, `_svc-verify.${row.domain}`);
  const refusal = { type: 'domain_txt_not_found', status: 400 };
  await assert.rejects(domains.verifyDomain(owner, row), { ...refusal, message: /no TXT record/ });
  second.records.set(row.txt_name, [[`${row.txt_value} `], ['v=spf1 -all']]);
  await assert.rejects(domains.verifyDomain(owner, row), (error: { extra: { seen: { values: string[] }[] } }) => {
    assert.deepEqual(error.extra.seen[1]?.values, [`${row.txt_value} `, 'v=spf1 -all']);
    return true;
  });
  first.failing = true;
  second.records.set(row.txt_name, [['v=spf1 -all'], [row.txt_value.slice(0, 20), row.txt_value.slice(20)]]);
  try {
    assert.equal((await domains.verifyDomain(owner, row)).status, 'verified');
  } finally {
    first.failing = false;
  }
  assert.deepEqual(await statesIn(w.tenant.id), ['create', 'update verified']);
});

test('a domain says nothing about its subdomains or about another workspace', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const row = await domains.createDomain(w.member('owner'), { domain: name() });
  publish(row);
  await domains.verifyDomain(w.member('owner'), row);
  assert.equal(await domains.isVerifiedFor(db(), w.tenant.id, `a@${row.domain}`), true);
  for (const [tenant, email] of [
    [w, `a@sub.${row.domain}`],
    [w, `a@${row.domain}@evil.example`],
    [w, `a@x${row.domain}`],
    [other, `a@${row.domain}`],
  ] as const)
    assert.equal(await domains.isVerifiedFor(db(), tenant.tenant.id, email), false, email);
});

test('a request expires after 14 days and can be made again with another value', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const row = await domains.createDomain(owner, { domain: name() });
  await sweepKind('tenant_domain', new Date(Date.now() + 14 * 86_400_000 + 1000));
  assert.equal((await domains.listDomains(owner))[0]?.status, 'expired');
  publish(row);
  await assert.rejects(domains.verifyDomain(owner, row), { type: 'conflict' });
  const again = await domains.createDomain(owner, { domain: row.domain });
  assert.deepEqual([again.status, again.txt_value === row.txt_value], ['pending', false]);
});

test('three days without the record lapse a domain and mail the Owners; a failing resolver counts for nothing; the record brings it back', async () => {
  const { w, email } = await createTestPerson({ signedIn: false });
  const owner = w.member('owner');
  const row = await domains.createDomain(owner, { domain: name() });
  publish(row);
  await domains.verifyDomain(owner, row);
  let day = 0;
  const nextDay = async () => {
    await domains.recheckDomains(db(), new Date(Date.now() + ++day * 86_400_000));
    return (await domains.listDomains(owner))[0]?.status;
  };
  assert.equal(await nextDay(), 'verified');
  first.records.delete(row.txt_name);
  assert.deepEqual([await nextDay(), await nextDay()], ['verified', 'verified']);
  [first.failing, second.failing] = [true, true];
  assert.equal(await nextDay(), 'verified');
  [first.failing, second.failing] = [false, false];
  assert.equal(await nextDay(), 'lapsed');
  assert.equal(await domains.isVerifiedFor(db(), w.tenant.id, `a@${row.domain}`), false);
  await backgroundSettled();
  assert.equal((await mailsTo(email)).filter(({ kind }) => kind === 'domain_lapsed').length, 1);
  publish(row, second);
  assert.equal(await nextDay(), 'verified');
  assert.deepEqual(await statesIn(w.tenant.id), ['create', 'update verified', 'update lapsed', 'update verified']);
});

test('of two workspaces that verified a domain only one can require single sign-on of it', async () => {
  const domain = name();
  const two = [await workspace(), await workspace()] as const;
  for (const w of two) await domains.setVerified(w.member('owner'), (await domains.createDomain(w.member('owner'), { domain })).id);
  const claim = (w: (typeof two)[number]) => db().$transaction((tx) => claimForSso(tx, w.tenant.id, new Date()));
  const results = await Promise.allSettled(two.map(claim));
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const refused = results.find((result) => result.status === 'rejected');
  assert.equal(refused?.reason.type, 'conflict', String(refused?.reason));
});
