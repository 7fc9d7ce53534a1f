import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { COMPANY_FIELDS } from '#server/domain/tenants/company.schema.ts';
import { MEMBER_ROLES, type MemberRole } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { quickPasswords } from '#server/testing/quick-passwords.ts';
import { enrolled } from '#server/testing/step-up.ts';
import { PASSWORD } from '#server/testing/test-person.ts';
import { workspace } from '#server/testing/workspace.ts';
import { acceptPassword } from './passwords.ts';
import { addMembership, createUser } from './service.ts';

// Must-hold test 1 of interface rule 22 §13b: PATCH /auth/me, the whole matrix.

await testDatabase();
quickPasswords();

const VALUES = {
  country: 'de',
  address: 'Hafenstraße 1',
  city: 'Hamburg',
  postal_code: '20457',
  tax_id_type: 'eu_vat',
  tax_id_value: 'de 136695976',
} as const;

/** A person who joined `first` with the role and then `second` as Owner, signed in without a scope. */
async function person(role: MemberRole) {
  const [first, second] = [await workspace(), await workspace()];
  const email = `${newId()}@example.test`;
  const password_hash = await acceptPassword(PASSWORD, email, 'password');
  const user = await db().$transaction(async (tx) => {
    const at = (ms: number) => new Date(Date.now() - ms);
    const user = await createUser(tx, { email, full_name: 'Before', password_hash, email_verified: true, now: new Date() });
    await addMembership(tx, { tenant_id: first.tenant.id, user_id: user.id, role, source: 'invite', now: at(2_000) });
    await addMembership(tx, { tenant_id: second.tenant.id, user_id: user.id, role: 'owner', source: 'invite', now: at(1_000) });
    return user;
  });
  const b = browser();
  assert.equal((await b.post('/auth/login', { email, password: PASSWORD })).status, 200);
  const me = (await b.load()).body as unknown as { session: { id: string } };
  const scope = (scope_tenant_id: string | null) => db().sessions.update({ where: { id: me.session.id }, data: { scope_tenant_id } });
  await db().sessions.update({ where: { id: me.session.id }, data: { active_tenant_id: second.tenant.id } });
  return { first: first.tenant.id, second: second.tenant.id, user, b, scope };
}

const companies = async (ids: readonly string[]) =>
  db().tenants.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, country: true, address: true, city: true, postal_code: true, tax_id_type: true, tax_id_value: true },
    orderBy: { id: 'asc' },
  });
const nameOf = async (id: string) => (await db().users.findUniqueOrThrow({ where: { id } })).full_name;

describe('company fields are saved for the first workspace, by an Owner or Admin with a factor in a session that may act there, and not otherwise', () => {
  for (const role of MEMBER_ROLES)
    test(role, async () => {
      const p = await person(role);
      const ids = [p.first, p.second];
      for (const factor of [false, true]) {
        if (factor) await enrolled(p.user.id);
        for (const scope of [null, p.first, p.second] as const) {
          await p.scope(scope);
          for (const field of COMPANY_FIELDS)
            for (const value of [VALUES[field], null]) {
              // A tax ID is a pair: each half comes with the other one.
              const pair =
                value !== null && field.startsWith('tax_id') ? { tax_id_type: VALUES.tax_id_type, tax_id_value: VALUES.tax_id_value } : {};
              const half = value === null && field.startsWith('tax_id') ? { tax_id_type: null, tax_id_value: null } : {};
              const [before, name] = [await companies(ids), await nameOf(p.user.id)];
              const full_name = `N ${newId()}`;
              const answer = await p.b.call('PATCH', '/auth/me', { full_name, [field]: value, ...pair, ...half });
              const what = `${role}, factor ${factor}, scope ${scope && (scope === p.first ? 'first' : 'other')}, ${field} ${value}`;
              const expected =
                role !== 'owner' && role !== 'admin'
                  ? 'role_denied'
                  : !factor
                    ? 'mfa_required'
                    : scope === p.second
                      ? 'session_scope_mismatch'
                      : null;
              if (expected) {
                assert.deepEqual([answer.status, answer.body.error, answer.body.code], [403, expected, expected], what);
                if (expected === 'mfa_required') assert.match(String(answer.body.enroll_url), /\/me\/security$/);
                if (expected === 'session_scope_mismatch') assert.match(String(answer.body.message), /scoped to a different tenant/);
                assert.deepEqual([await companies(ids), await nameOf(p.user.id)], [before, name], `${what}: nothing is saved`);
              } else {
                assert.equal(answer.status, 200, `${what}: ${answer.text}`);
                const [after] = await companies([p.first]);
                const stored = value === null ? null : ['country', 'tax_id_value'].includes(field) ? value.toUpperCase() : value;
                assert.deepEqual([after?.[field], await nameOf(p.user.id)], [stored, full_name], what);
                assert.deepEqual(
                  await companies([p.second]),
                  before.filter(({ id }) => id === p.second),
                  `${what}: the selected workspace`,
                );
              }
            }
          const full_name = `N ${newId()}`;
          assert.equal((await p.b.call('PATCH', '/auth/me', { full_name })).status, 200, 'profile fields are nobody else’s');
          assert.equal(await nameOf(p.user.id), full_name);
        }
      }
    });
});

test('a value that is wrong is told as a sentence that starts with "Invalid tenant address:", and saves nothing', async () => {
  const p = await person('owner');
  await enrolled(p.user.id);
  assert.equal((await p.b.call('PATCH', '/auth/me', VALUES)).status, 200);
  const before = await companies([p.first]);
  const wrong: Record<string, unknown>[] = [
    { country: 'Germany' },
    { country: 'XX' },
    { country: 7 },
    { postal_code: '1'.repeat(21) },
    { address: 'a'.repeat(201) },
    { city: 'c'.repeat(101) },
    { city: ['Hamburg'] },
    { address: 'line\u0007' },
    { tax_id_type: 'vat' },
    { tax_id_type: null },
    { tax_id_value: null },
    { tax_id_value: 'ab' },
    { tax_id_value: 'DE136695977' },
    { tax_id_value: 'DE136695976;' },
    { tax_id_type: 'au_abn', tax_id_value: '51824753557' },
    { country: 'FR', postal_code: {} },
  ];
  for (const fields of wrong) {
    const answer = await p.b.call('PATCH', '/auth/me', { full_name: 'After', ...fields });
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid'], JSON.stringify(fields));
    assert.match(String(answer.body.error), /^Invalid tenant address: (country|address|city|postal_code|tax_id_type|tax_id_value) /);
    assert.equal(answer.body.error, answer.body.message);
    assert.deepEqual([await companies([p.first]), await nameOf(p.user.id)], [before, 'Before']);
  }
});

test('a tax ID is in no audit entry, and only Owners and Admins of the workspace are shown it', async () => {
  const p = await person('admin');
  await enrolled(p.user.id);
  const saved = await p.b.call('PATCH', '/auth/me', VALUES);
  assert.equal((saved.body.company as unknown as { tax_id_value: string }).tax_id_value, 'DE 136695976');
  const entries = await db().audit_logs.findMany({ where: { tenant_id: p.first, resource_type: 'tenant' } });
  assert.deepEqual(
    entries.map(({ details }) => (details as { changes: unknown }).changes),
    [COMPANY_FIELDS.map((field) => ({ field, changed: true }))],
  );
  assert.ok(!JSON.stringify(entries.map(({ details }) => details)).includes('136695976'));
  await db().memberships.updateMany({ where: { tenant_id: p.first, user_id: p.user.id }, data: { role: 'editor' } });
  assert.equal((await p.b.get('/auth/me')).body.company, null);
});

test('a person without a workspace is refused by their role, and an empty body as such', async () => {
  const p = await person('owner');
  await enrolled(p.user.id);
  assert.deepEqual((await p.b.call('PATCH', '/auth/me', {})).body.code, 'invalid');
  await db().memberships.updateMany({ where: { user_id: p.user.id }, data: { removed_at: new Date() } });
  const answer = await p.b.call('PATCH', '/auth/me', { full_name: 'After', country: null });
  assert.deepEqual([answer.status, answer.body.error, await nameOf(p.user.id)], [403, 'role_denied', 'Before']);
});
