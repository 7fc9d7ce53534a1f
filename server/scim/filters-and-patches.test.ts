import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type Answer, ask, directory, membershipOf, person, USER } from './scim.fixture.ts';

// Filters and PATCH as a directory meets them: through the plane, on stored people. The grammar and the engine have tests of their own.

await testDatabase();

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const filter = (text: string) => `/Users?filter=${encodeURIComponent(text)}`;
const names = ({ status, body, text }: Answer): string[] => {
  assert.equal(status, 200, text);
  assert.equal(body.totalResults, body.Resources.length);
  return body.Resources.map(({ displayName }: { displayName: string }) => displayName);
};

/** Ann, Ärger and Bob, who is inactive. */
async function people() {
  const w = await directory();
  const made = async (displayName: string, local: string, more: Record<string, unknown> = {}) => {
    const answer = await w.scim.post('/Users', person(`${local}@${w.domain}`, { displayName, ...more }));
    assert.equal(answer.status, 201, answer.text);
    return answer.body as { id: string; userName: string; meta: { created: string } };
  };
  const ann = await made('Ann', 'ann', { externalId: 'AbC', name: { givenName: 'Ann', familyName: '100%_\\' } });
  const second = await made('Ärger', 'a-second', {
    emails: [
      { value: `home@${w.domain}`, type: 'home' },
      { value: 'x@work.example', type: 'work' },
    ],
  });
  const bob = await made('Bob', 'bob', { active: false, name: { familyName: '100 percent' }, emails: [] });
  return { w, ann, second, bob };
}

test('the rows of the filter table', async () => {
  const { w, ann, bob } = await people();
  const cases: [string, string[]][] = [
    [`userName eq "ANN@${w.domain}"`, ['Ann']],
    ['externalId eq "AbC"', ['Ann']],
    ['externalId eq "abc"', []],
    [`not (active eq true) and userName ew "@${w.domain}"`, ['Bob']],
    [`not (active eq false) and emails[type eq "work"].value ew "@${w.domain}"`, ['Ann']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "a" or displayName pr', ['Ann', 'Ärger', 'Bob']],
    ['displayName eq "a\u0308RGER"', ['Ärger']],
    ['active eq true', ['Ann', 'Ärger']],
    ['active ne true', ['Bob']],
    ['name.familyName co "%"', ['Ann']],
    ['name.familyName co "_"', ['Ann']],
    ['name.familyName ew "\\\\"', ['Ann']],
    ['name.familyName sw "100"', ['Ann', 'Bob']],
    ['emails pr', ['Ann', 'Ärger']],
    ['emails eq null', ['Bob']],
    [`emails[type eq "home" and value ew "work.example"]`, []],
    ['emails.value co "work.example"', ['Ärger']],
    ['emails.primary eq true', ['Ann']],
    [`id eq "${ann.id}"`, ['Ann']],
    [`id eq "${ann.id.toUpperCase()}"`, []],
    [`id eq "x" or id eq "${bob.id}"`, ['Bob']],
    [`meta.created ge "${ann.meta.created}"`, ['Ann', 'Ärger', 'Bob']],
    [`meta.lastModified gt "2999-01-01T00:00:00Z"`, []],
  ];
  for (const [text, expected] of cases) assert.deepEqual(names(await w.scim.get(filter(text))), expected, text);
});

test('a filter that cannot be honoured lists nobody', async () => {
  const { w } = await people();
  const queries = [
    ...[
      'userName eq ann',
      'title eq "CEO"',
      '',
      ' ',
      'userName',
      `${ENTERPRISE}:active eq true`,
      'urn:x:y:userName pr',
      'a'.repeat(5_000),
      '('.repeat(100),
    ].map((text) => `filter=${encodeURIComponent(text)}`),
    'filter',
    'filter=userName%20eq%20%22%00%22',
    'filter=userName%20eq%20%22%ff%22%20x',
    'Filter=title%20pr',
    `filter=${encodeURIComponent('userName pr')}&filter=${encodeURIComponent('title pr')}`,
  ];
  for (const query of queries) {
    const answer = await w.scim.get(`/Users?${query}`);
    assert.deepEqual([answer.status, answer.body.scimType, answer.body.Resources], [400, 'invalidFilter', undefined], query.slice(0, 100));
  }
});

test('no filter reaches people of another workspace, or records that are deleted', async () => {
  const [{ w, ann }, other] = [await people(), await directory()];
  for (const text of [
    'userName pr',
    `userName eq "${ann.userName}"`,
    `not (id eq "x")`,
    `id eq "${ann.id}" or active eq true`,
    'emails pr or not (emails pr)',
  ])
    assert.deepEqual(names(await other.scim.get(filter(text))), [], text);
  assert.equal((await w.scim.remove(`/Users/${ann.id}`)).status, 204);
  assert.deepEqual(names(await w.scim.get(filter(`id eq "${ann.id}" or externalId eq "AbC"`))), []);
  assert.deepEqual(names(await w.scim.get(filter('userName pr or not (userName pr)'))), ['Ärger', 'Bob']);
  assert.equal((await w.scim.get('/Users?count=0')).body.totalResults, 2);
});

test('the total of a list follows what is created and deleted, and is that of its filter', async () => {
  const { w, ann } = await people();
  const total = async (query = '') => (await w.scim.get(`/Users${query}`)).body.totalResults;
  assert.deepEqual([await total(), await total('?startIndex=3&count=1'), await total('?startIndex=9')], [3, 3, 3]);
  const page = async (query: string) =>
    (await w.scim.get(`/Users?${query}`)).body.Resources.map((one: { displayName: string }) => one.displayName);
  assert.deepEqual(
    [await page('count=2'), await page('startIndex=2&count=2'), await page('startIndex=3&count=5'), await page('startIndex=4')],
    [['Ann', 'Ärger'], ['Ärger', 'Bob'], ['Bob'], []],
  );
  await w.scim.remove(`/Users/${ann.id}`);
  assert.equal(await total(), 2);
  assert.equal((await w.scim.post('/Users', person(ann.userName))).status, 201);
  assert.equal(await total(), 3);
  assert.equal((await db().row_counts.findFirstOrThrow({ where: { tenant_id: w.tenant.id, kind: 'scim_users' } })).n, 3n);
});

test('a PATCH with a failing operation stores nothing of any', async () => {
  const { w, ann } = await people();
  const path = `/Users/${ann.id}`;
  const before = (await w.scim.get(path)).text;
  for (const third of [
    { op: 'replace', path: 'nickName', value: 'x' },
    { op: 'replace', path: 'active', value: 'maybe' },
    { op: 'remove', path: 'emails[type eq "fax"]' },
    { op: 'replace', path: 'id', value: 'x' },
    { op: 'replace', path: `${ENTERPRISE}:active`, value: false },
    { op: 'replace', value: { [ENTERPRISE]: { active: false } } },
    { op: 'replace', value: { displayName: 'x', locale: 'de' } },
    { op: 'move', path: 'displayName', value: 'x' },
  ]) {
    const answer = await w.scim.patch(
      path,
      { op: 'replace', path: 'displayName', value: 'Never' },
      { op: 'replace', path: 'active', value: false },
      third,
    );
    assert.equal(answer.status, 400, answer.text);
    assert.equal((await w.scim.get(path)).text, before, JSON.stringify(third));
  }
  assert.ok(await membershipOf(w.tenant.id, ann.userName));
});

test('a PATCH answers with the whole person, as chosen by attributes, and repeats without an effect', async () => {
  const { w, ann } = await people();
  const changed = await ask('PATCH', `/Users/${ann.id}?attributes=displayName,name.givenName`, w.scim.token, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'Replace', path: 'displayName', value: 'Anna' }],
  });
  assert.deepEqual(changed.body, { schemas: [USER], id: ann.id, displayName: 'Anna', name: { givenName: 'Ann' } });
  const updates = () => db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_id: ann.id, action: 'update' } });
  const once = await updates();
  await w.scim.patch(`/Users/${ann.id}`, { op: 'replace', path: 'displayName', value: 'Anna' });
  assert.equal(await updates(), once);
});

test('filters find people by an index, whatever the size of the directory', async () => {
  const { w } = await people();
  const { toSql } = await import('./filter/sql.ts');
  const { parseFilter } = await import('./filter/parse.ts');
  const { userColumns } = await import('./resources/user-columns.ts');
  const { userType } = await import('./schema/user.ts');
  const client = await sql().connect();
  try {
    await client.query('begin');
    await client.query(
      `insert into scim_users (id, tenant_id, address, user_name, user_name_folded, external_id, emails)
        select uuidv7(), $1, 'p' || i, 'p' || i, 'p' || i, 'x' || i, jsonb_build_array(jsonb_build_object('value', 'P' || i || '@x.example', 'type', 'work')) from generate_series(1, 5000) i`,
      [w.tenant.id],
    );
    await client.query('analyze scim_users');
    await client.query(
      "select set_config('app.tenant_id', $1, true), set_config('role', 'sallyport_app', true), set_config('plan_cache_mode', 'force_custom_plan', true)",
      [w.tenant.id],
    );
    for (const [text, n] of [
      ['userName eq "P77"', 1],
      ['externalId eq "x77"', 1],
      ['userName eq "p77" or externalId eq "x78"', 2],
      ['userName sw "p499"', 11],
      ['emails eq "p77@X.example"', 1],
      ['emails[type eq "work" and value eq "p77@X.example"]', 1],
      ['emails[type eq "work"].value eq "p77@x.example"', 1],
    ] as const) {
      const { text: condition, values } = toSql(parseFilter(text, userType), userColumns, 2);
      const query = `select s.id from scim_users s where s.tenant_id = $1::uuid and s.deleted_at is null and ${condition}`;
      assert.equal((await client.query(query, [w.tenant.id, ...values])).rowCount, n, text);
      const plan = (await client.query<{ 'QUERY PLAN': string }>(`explain ${query}`, [w.tenant.id, ...values])).rows
        .map((row) => row['QUERY PLAN'])
        .join('\n');
      assert.doesNotMatch(plan, /Seq Scan on scim_users|scim_users_listed/, `${text}\n${plan}`);
    }
  } finally {
    await client.query('rollback');
    client.release();
  }
});
