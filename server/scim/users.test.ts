import assert from 'node:assert/strict';
import test from 'node:test';
import { createSession, sessionOf } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { client, credential, directory, membershipOf, person, verifiedDomain } from './scim.fixture.ts';

await testDatabase();

type Directory = Awaited<ReturnType<typeof directory>>;

/** A member who joined in another way. */
async function member(w: Directory, role: string, email = `${newId()}@elsewhere.example`) {
  const user = await db().users.create({ data: { id: newId(), email, full_name: role, email_verified_at: new Date() } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: user.id, role, source: 'invite' } });
  return user;
}

const auditOf = async (w: Directory, id: string) => {
  const rows = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_id: id },
    orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
  });
  return rows.map(({ action, resource_type, actor_type }) => `${actor_type} ${action} ${resource_type}`);
};

test('a new person of a verified domain gets an account without a password, the role member and one welcome', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const created = await w.scim.post('/Users', person(ann, { externalId: 'x-1' }));
  assert.equal(created.status, 201, created.text);
  const { id, meta } = created.body;
  assert.equal(created.headers.get('location'), meta.location);
  assert.deepEqual(created.body, {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    id,
    externalId: 'x-1',
    userName: ann,
    name: { givenName: 'Ann', familyName: 'Lee' },
    displayName: 'Ann Lee',
    emails: [{ value: ann, type: 'work', primary: true }],
    active: true,
    meta: { ...meta, resourceType: 'User', location: `https://admin.test/scim/v2/Users/${id}` },
  });
  const joined = await membershipOf(w.tenant.id, ann);
  assert.ok(joined);
  assert.deepEqual(
    [joined.role, joined.source, joined.user.password_hash, joined.user.email_verified_at, joined.user.full_name],
    ['member', 'scim', null, null, 'Ann Lee'],
  );
  assert.deepEqual([await auditOf(w, id), await auditOf(w, joined.user_id)], [['scim create scim_user'], ['scim create member']]);
  assert.deepEqual((await w.scim.get(`/Users/${id}`)).body, created.body);
  // Off and on again: no second mail within a day.
  await w.scim.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
  await w.scim.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
  assert.deepEqual((await mailsTo(ann)).filter(({ kind }) => kind === 'directory_welcome').length, 1);
});

test('outside of the verified domains nobody new is let in, but whoever is a member gets a record and keeps their role', async () => {
  const w = await directory();
  for (const address of ['eve@elsewhere.example', `eve@sub.${w.domain}`, `eve@x${w.domain}`]) {
    const refused = await w.scim.post('/Users', person(address));
    assert.deepEqual([refused.status, refused.body.error, refused.body.scimType], [400, 'scim_domain_unverified', 'invalidValue'], address);
  }
  assert.equal(await db().users.count({ where: { email: 'eve@elsewhere.example' } }), 0);
  const admin = await member(w, 'admin');
  const created = await w.scim.post('/Users', person(admin.email));
  assert.deepEqual([created.status, created.body.active], [201, true]);
  assert.equal((await membershipOf(w.tenant.id, admin.email))?.role, 'admin');
  await db().tenant_domains.updateMany({ where: { tenant_id: w.tenant.id }, data: { status: 'lapsed' } });
  assert.equal((await w.scim.post('/Users', person(`bob@${w.domain}`))).body.error, 'scim_domain_unverified');
  assert.equal((await w.scim.post('/Users', person('no address', { emails: [] }))).body.scimType, 'invalidValue');
});

test('an account whose address was never proven loses what a stranger set up, and other workspaces of a proven one stay', async () => {
  const w = await directory();
  const other = await directory();
  const stranger = await member(other, 'viewer', `new@${w.domain}`);
  await db().users.update({ where: { id: stranger.id }, data: { email_verified_at: null, password_hash: 'x' } });
  const { token } = await db().$transaction((tx) =>
    createSession(tx, { user_id: stranger.id, methods: ['password'], keep: false, ip: null, user_agent: null, now: new Date() }),
  );
  assert.equal((await w.scim.post('/Users', person(stranger.email))).status, 201);
  assert.equal((await db().users.findUniqueOrThrow({ where: { id: stranger.id } })).password_hash, null);
  assert.equal(await sessionOf(token, new Date()), null);
  assert.ok(await membershipOf(other.tenant.id, stranger.email));
});

test('user name and external ID are unique in any case of the name, also among concurrent calls', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const answers = await Promise.all(Array.from({ length: 6 }, () => w.scim.post('/Users', person(ann))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
  assert.equal(await db().memberships.count({ where: { tenant_id: w.tenant.id, user: { email: ann } } }), 1);
  const taken = await w.scim.post('/Users', person(ann.toUpperCase()));
  assert.deepEqual([taken.status, taken.body.scimType], [409, 'uniqueness']);
  const bob = await w.scim.post('/Users', person(`bob@${w.domain}`, { externalId: 'AbC' }));
  assert.equal((await w.scim.post('/Users', person(`b2@${w.domain}`, { externalId: 'AbC' }))).status, 409);
  assert.equal((await w.scim.post('/Users', person(`b3@${w.domain}`, { externalId: 'abc' }))).status, 201);
  assert.equal((await w.scim.patch(`/Users/${bob.body.id}`, { op: 'replace', path: 'userName', value: ann })).status, 409);
  // Another record of the same account would contradict this one.
  const twin = await w.scim.post('/Users', person('ann-2', { emails: [{ value: ann, type: 'work' }] }));
  assert.deepEqual([twin.status, twin.body.scimType], [409, 'uniqueness']);
});

test('deactivating ends the membership at once with the effects of a removal, and the record stays to be found', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const { id } = (await w.scim.post('/Users', person(ann))).body;
  const { user_id } = (await membershipOf(w.tenant.id, ann)) ?? {};
  const { token } = await db().$transaction((tx) =>
    createSession(tx, {
      user_id: user_id as string,
      methods: ['sso'],
      keep: false,
      ip: null,
      user_agent: null,
      now: new Date(),
    }),
  );
  assert.ok(await sessionOf(token, new Date()));
  const off = await w.scim.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
  assert.deepEqual([off.status, off.body.active], [200, false]);
  assert.equal(await membershipOf(w.tenant.id, ann), null);
  assert.equal(await sessionOf(token, new Date()), null);
  assert.equal((await w.scim.get(`/Users/${id}`)).body.active, false);
  assert.equal((await w.scim.get(`/Users?filter=${encodeURIComponent(`userName eq "${ann}"`)}`)).body.Resources[0].active, false);
  assert.deepEqual(await auditOf(w, id), ['scim create scim_user', 'scim disable scim_user']);
  assert.deepEqual(await auditOf(w, user_id as string), ['scim create member', 'scim delete member']);
  assert.equal((await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })).status, 200);
  assert.equal((await auditOf(w, id)).length, 2, 'nothing to do leaves no entry');
  const back = await w.scim.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
  assert.deepEqual([back.body.active, (await membershipOf(w.tenant.id, ann))?.user_id], [true, user_id]);
});

test('the Owners hear what somebody whom the directory deactivates made, and nothing of it is revoked', async () => {
  const w = await directory();
  const owner = await member(w, 'owner');
  const admin = await member(w, 'admin', `boss@${w.domain}`);
  const key = await db().api_keys.create({
    data: {
      ...{
        id: newId(),
        tenant_id: w.tenant.id,
        sandbox: true,
        key_id: `tk_test_${newId().slice(-12)}`,
        key_prefix: 'tk_test_x',
        digest: new Uint8Array(32),
      },
      ...{ key_type: 'test', name: 'left behind', made_by: admin.id },
    },
  });
  const { id } = (await w.scim.post('/Users', person(admin.email))).body;
  await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  const mail = (await mailsTo(owner.email)).find(({ kind }) => kind === 'member_made');
  assert.match(mail?.text ?? '', /API key \(Test\): left behind/);
  assert.equal((await db().api_keys.findUniqueOrThrow({ where: { id: key.id } })).active, true);
});

test('who comes back is a member, whatever they were, and needs a verified domain', async () => {
  const w = await directory();
  const admin = await member(w, 'admin', `boss@${w.domain}`);
  const { id } = (await w.scim.post('/Users', person(admin.email))).body;
  await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await db().tenant_domains.updateMany({ where: { tenant_id: w.tenant.id }, data: { status: 'lapsed' } });
  const refused = await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
  assert.equal(refused.body.error, 'scim_domain_unverified');
  await db().tenant_domains.updateMany({ where: { tenant_id: w.tenant.id }, data: { status: 'verified' } });
  await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
  assert.equal((await membershipOf(w.tenant.id, admin.email))?.role, 'member');
});

test('active is derived: a removal in the dashboard and a disabled account show without any write', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const { id } = (await w.scim.post('/Users', person(ann))).body;
  await db().memberships.updateMany({ where: { tenant_id: w.tenant.id, user: { email: ann } }, data: { removed_at: new Date() } });
  const { body } = await w.scim.get(`/Users/${id}`);
  assert.deepEqual([body.active, body.meta.lastModified], [false, body.meta.created]);
  const on = await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
  assert.equal(on.body.active, true);
  await db().users.update({ where: { email: ann }, data: { disabled_at: new Date() } });
  assert.equal((await w.scim.get(`/Users/${id}`)).body.active, false);
  const stays = await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
  assert.deepEqual([stays.status, stays.body.active], [200, false]);
  // Removing a person whose account is disabled must not look done already.
  assert.ok(await membershipOf(w.tenant.id, ann));
  await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  assert.equal(await membershipOf(w.tenant.id, ann), null);
});

test('the last Owner can be neither deactivated nor deleted, and nothing happens', async () => {
  const w = await directory();
  const owner = await member(w, 'owner');
  const { id } = (await w.scim.post('/Users', person(owner.email))).body;
  const answers = [
    await w.scim.patch(`/Users/${id}`, { op: 'replace', value: { active: false, displayName: 'Gone' } }),
    await w.scim.put(`/Users/${id}`, person(owner.email, { active: false, displayName: 'Gone' })),
    await w.scim.remove(`/Users/${id}`),
  ];
  for (const { status, body } of answers) assert.deepEqual([status, body.error, body.scimType], [409, 'scim_last_owner', undefined]);
  assert.equal((await w.scim.get(`/Users/${id}`)).body.displayName, 'Ann Lee');
  await madeBy(w, await member(w, 'owner'));
  assert.equal((await w.scim.remove(`/Users/${id}`)).status, 204);
});

const madeBy = (w: Directory, maker: { id: string }) =>
  db().scim_credentials.update({ where: { id: w.live_credential.id }, data: { created_by: maker.id } });

test('a credential that an Admin made ends no membership of an Owner, as the Admin can end none', async () => {
  const w = await directory();
  const [owner, other, admin] = [await member(w, 'owner'), await member(w, 'owner'), await member(w, 'admin')];
  const { id } = (await w.scim.post('/Users', person(owner.email))).body;
  const off = { op: 'replace', path: 'active', value: false };
  for (const maker of [admin, null]) {
    if (maker) await madeBy(w, maker);
    for (const { status, body } of [await w.scim.patch(`/Users/${id}`, off), await w.scim.remove(`/Users/${id}`)])
      assert.deepEqual([status, body.error, body.scimType], [409, undefined, undefined]);
    assert.equal((await membershipOf(w.tenant.id, owner.email))?.role, 'owner');
  }
  await madeBy(w, other);
  const gone = await w.scim.patch(`/Users/${id}`, off);
  assert.deepEqual([gone.status, gone.body.active], [200, false]);
});

test('an address that only a URL would read as one of the verified domain is refused', async () => {
  const w = await directory();
  for (const rest of ['/x', '?x', '#x', ':25', '%2e']) {
    const { status, body } = await w.scim.post('/Users', person(`eve@${w.domain}${rest}`));
    assert.deepEqual([status, body.scimType], [400, 'invalidValue'], rest);
  }
});

test('a date that no database holds, and a filter that would take too long, are invalid filters', async () => {
  const w = await directory();
  for (const date of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00']) {
    const { status, body } = await w.scim.get(`/Users?filter=${encodeURIComponent(`meta.created gt "${date}"`)}`);
    assert.deepEqual([status, body.scimType], [400, 'invalidFilter'], date);
  }
  const emails = Array.from({ length: 100 }, (_, i) => ({ value: `${i}${'äß'.repeat(100)}@a.example`, type: 'x'.repeat(100) }));
  const many = Array.from({ length: 600 }, (_, i) => ({
    id: newId(),
    tenant_id: w.tenant.id,
    address: `${i}@a.example`,
    user_name: `${i}`,
    user_name_folded: `${i}`,
    emails,
  }));
  await db().scim_users.createMany({ data: many });
  const filter = Array.from({ length: 50 }, (_, i) => `emails co "no one ${i}"`).join(' or ');
  const { status, body } = await w.scim.get(`/Users?filter=${encodeURIComponent(filter)}`);
  assert.deepEqual([status, body.scimType], [400, 'invalidFilter']);
});

test('a full workspace takes nobody else in, and keeps those it has', async () => {
  const w = await directory();
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'members', value: 1 } });
  assert.equal((await w.scim.post('/Users', person(`ann@${w.domain}`))).status, 201);
  const full = await w.scim.post('/Users', person(`bob@${w.domain}`));
  assert.deepEqual([full.status, full.body.error], [403, 'scim_member_limit']);
  const inactive = await w.scim.post('/Users', person(`bob@${w.domain}`, { active: false }));
  assert.deepEqual([inactive.status, inactive.body.active], [201, false]);
  assert.equal(
    (await w.scim.patch(`/Users/${inactive.body.id}`, { op: 'replace', path: 'active', value: true })).body.error,
    'scim_member_limit',
  );
});

test('a deleted record is a tombstone: 404 for good, and the same name begins again under a new ID', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const first = (await w.scim.post('/Users', person(ann, { externalId: 'x' }))).body.id;
  assert.equal((await w.scim.remove(`/Users/${first}`)).status, 204);
  assert.equal(await membershipOf(w.tenant.id, ann), null);
  const missing = await w.scim.get(`/Users/${newId()}`);
  for (const answer of [
    await w.scim.get(`/Users/${first}`),
    await w.scim.remove(`/Users/${first}`),
    await w.scim.put(`/Users/${first}`, person(ann)),
    await w.scim.get('/Users/x'),
  ])
    assert.deepEqual([answer.status, answer.text], [404, missing.text]);
  const second = await w.scim.post('/Users', person(ann, { externalId: 'x' }));
  assert.equal(second.status, 201);
  assert.notEqual(second.body.id, first);
  assert.equal((await w.scim.get('/Users')).body.totalResults, 1);
});

test('IDs of another workspace are unknown, in the same bytes', async () => {
  const [a, b] = [await directory(), await directory()];
  const { id } = (await a.scim.post('/Users', person(`ann@${a.domain}`))).body;
  const unknown = await b.scim.get(`/Users/${newId()}`);
  for (const answer of [
    await b.scim.get(`/Users/${id}`),
    await b.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
    await b.scim.remove(`/Users/${id}`),
  ])
    assert.deepEqual([answer.status, answer.text], [404, unknown.text]);
  assert.equal((await b.scim.get('/Users')).body.totalResults, 0);
  assert.ok(await membershipOf(a.tenant.id, `ann@${a.domain}`));
});

test('no write changes the address that a person signs in with', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const { id } = (await w.scim.post('/Users', person(ann))).body;
  const { user_id } = (await membershipOf(w.tenant.id, ann)) ?? {};
  const renamed = person(`lee@${w.domain}`);
  await w.scim.put(`/Users/${id}`, renamed);
  await w.scim.patch(
    `/Users/${id}`,
    { op: 'replace', path: 'emails[type eq "work"].value', value: `x@${w.domain}` },
    { op: 'replace', path: 'userName', value: `y@${w.domain}` },
  );
  await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
  const { email } = await db().users.findUniqueOrThrow({ where: { id: user_id as string } });
  assert.equal(email, ann);
  assert.ok(await membershipOf(w.tenant.id, ann));
  assert.equal(await db().users.count({ where: { email: { in: [`lee@${w.domain}`, `x@${w.domain}`, `y@${w.domain}`] } } }), 0);
});

test('PUT clears what it leaves out, but neither the user name nor whether somebody is active', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const { id } = (await w.scim.post('/Users', person(ann, { externalId: 'x' }))).body;
  const { schemas, userName } = person(ann);
  const bare = await w.scim.put(`/Users/${id}`, { schemas, userName });
  assert.deepEqual(Object.keys(bare.body).sort(), ['active', 'id', 'meta', 'schemas', 'userName']);
  assert.equal(bare.body.active, true);
  assert.equal((await w.scim.put(`/Users/${id}`, { schemas, displayName: 'x' })).body.scimType, 'invalidValue');
  assert.equal((await w.scim.put(`/Users/${id}`, person(ann, { active: false }))).body.active, false);
});

test('unknown attributes are refused wherever they come, and nothing is stored', async () => {
  const w = await directory();
  const ann = `ann@${w.domain}`;
  const { id } = (await w.scim.post('/Users', person(ann))).body;
  const before = (await w.scim.get(`/Users/${id}`)).text;
  const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
  const answers = [
    await w.scim.post('/Users', person(`b@${w.domain}`, { locale: 'en' })),
    await w.scim.post('/Users', person(`b@${w.domain}`, { 'urn:acme:custom': { a: 1 } })),
    await w.scim.put(`/Users/${id}`, person(ann, { nickName: 'A', displayName: 'New' })),
    await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'New' }, { op: 'add', path: 'nickName', value: 'A' }),
    await w.scim.patch(`/Users/${id}`, { op: 'replace', value: { displayName: 'New', nickName: 'A' } }),
    await w.scim.patch(`/Users/${id}`, { op: 'replace', path: `${ENTERPRISE}:active`, value: false }),
  ];
  for (const { status, body } of answers) assert.deepEqual([status, body.scimType], [400, 'invalidPath']);
  assert.equal((await w.scim.get(`/Users/${id}`)).text, before);
  assert.equal((await w.scim.get('/Users')).body.totalResults, 1);
  assert.equal((await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: 'maybe' })).body.scimType, 'invalidValue');
});

test('a record that began inactive becomes its person when they join in another way, so that the directory can end it', async () => {
  const w = await directory();
  const sam = `sam@elsewhere.example`;
  const email = `${newId()}-${sam}`;
  const { id } = (await w.scim.post('/Users', person(email, { active: false }))).body;
  assert.equal(await db().users.count({ where: { email } }), 0, 'a record alone makes no account');
  await member(w, 'viewer', email);
  assert.equal((await w.scim.get(`/Users/${id}`)).body.active, true);
  await w.scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  assert.equal(await membershipOf(w.tenant.id, email), null);
});

test('lists page by startIndex and count, and are clamped', async () => {
  const w = await directory();
  for (const name of ['a', 'b', 'c']) await w.scim.post('/Users', person(`${name}@${w.domain}`));
  const names = async (query: string) => {
    const { body } = await w.scim.get(`/Users?${query}`);
    return [
      body.totalResults,
      body.startIndex,
      body.itemsPerPage,
      body.Resources.map((one: { userName: string }) => one.userName[0]).join(''),
    ];
  };
  assert.deepEqual(await names(''), [3, 1, 3, 'abc']);
  assert.deepEqual(await names('startIndex=2&count=1'), [3, 2, 1, 'b']);
  assert.deepEqual(await names('startIndex=0&count=-1'), [3, 1, 0, '']);
  assert.deepEqual(await names('startIndex=9'), [3, 9, 0, '']);
  assert.deepEqual(await names('sortBy=userName&sortOrder=descending&count=5000'), [3, 1, 3, 'abc']);
  assert.deepEqual(await names('filter=userName+eq+"nobody"'), [0, 1, 0, '']);
  assert.equal((await w.scim.get('/Users?count=x')).body.scimType, 'invalidValue');
  for (const filter of ['', 'userName eq ann', 'title eq "CEO"', 'userName eq "a', "userName eq 'a'", 'id pr; drop table users'])
    assert.deepEqual((await w.scim.get(`/Users?filter=${encodeURIComponent(filter)}`)).body.scimType, 'invalidFilter', filter);
  const [only] = (await w.scim.get('/Users?attributes=userName&count=1')).body.Resources;
  assert.deepEqual(Object.keys(only).sort(), ['id', 'schemas', 'userName']);
});

test('a credential is stamped and its calls are kept without bodies', async () => {
  const w = await directory();
  const { id, token } = await credential(w);
  await verifiedDomain(w, `second.${w.domain}`);
  await client(token).post('/Users', person(`ann@${w.domain}`, { locale: 'SECRET-BODY' }));
  await client(token).get('/Users?filter=userName+eq+"x"&token=hidden');
  await backgroundSettled();
  const calls = await db().scim_requests.findMany({ where: { credential_id: id }, orderBy: { created_at: 'asc' } });
  assert.deepEqual(
    calls.map(({ method, target, status, scim_type }) => [method, target, status, scim_type]),
    [
      ['POST', '/Users', 400, 'invalidPath'],
      ['GET', '/Users?filter=userName eq "x"', 200, null],
    ],
  );
  assert.doesNotMatch(JSON.stringify(calls), /SECRET-BODY|hidden|scim_[0-9A-Za-z]{40}/);
  assert.ok((await db().scim_credentials.findUniqueOrThrow({ where: { id } })).last_used_at);
  const older = Array.from({ length: 105 }, (_, i) => ({
    id: newId(),
    tenant_id: w.tenant.id,
    credential_id: id,
    method: 'GET',
    target: '/Users',
    status: 200,
    request_id: newId(),
    duration_ms: 1,
    created_at: new Date(Date.now() - (i + 1) * 60_000),
  }));
  await db().scim_requests.createMany({ data: older });
  await client(token).get('/Schemas');
  await backgroundSettled();
  assert.equal(await db().scim_requests.count({ where: { tenant_id: w.tenant.id } }), 100, 'only the latest hundred');
});
