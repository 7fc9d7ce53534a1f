import type { z } from 'zod';
import { createDomain, setVerified } from '#server/domain/domains/service.ts';
import { acceptPassword, addMembership, createUser } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { fresh } from '#server/testing/factories.ts';
import { quickPasswords } from '#server/testing/quick-passwords.ts';
import { enrolled } from '#server/testing/step-up.ts';
import { PASSWORD } from '#server/testing/test-person.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import type { CreateSsoConnection } from './schema.ts';
import * as sso from './service.ts';

/** A workspace with a verified domain of its own. */
export async function verifiedWorkspace(options: Parameters<typeof workspace>[0] = {}) {
  quickPasswords();
  const w = await workspace(options);
  const domain = `${fresh('s')}.example`;
  await verifyDomain(w, domain);
  return { w, domain };
}

export async function verifyDomain(w: Workspace, domain: string): Promise<void> {
  const owner = w.member('owner');
  await setVerified(owner, (await createDomain(owner, { domain })).id);
}

export async function person(
  email: string,
  at: { w: Workspace; role?: MemberRole; factor?: boolean; verified?: boolean }[] = [],
  { password = true, verified: proven = true } = {},
) {
  const password_hash = password ? await acceptPassword(PASSWORD, email, 'password') : null;
  const user = await db().$transaction(async (tx) => {
    const now = new Date();
    const row = await createUser(tx, { email, full_name: 'P', password_hash, email_verified: proven, now });
    for (const { w, role } of at)
      await addMembership(tx, { tenant_id: w.tenant.id, user_id: row.id, role: role ?? 'member', source: 'invite', now });
    return row;
  });
  const factor = at.some((one) => one.factor) ? await enrolled(user.id) : undefined;
  return { ...user, email, password: PASSWORD, factor };
}

/** Creates a connection as an Owner does. */
export async function connect(w: Workspace, input: Partial<z.output<typeof CreateSsoConnection>>) {
  const owner = w.member('owner');
  return sso.createConnection(owner, { kind: 'oidc', name: `c-${newId().slice(0, 8)}`, ...input });
}

/** Changes the settings as an Owner does. */
export const setSso = (w: Workspace, input: { sso_required?: boolean; jit_joining?: boolean }) =>
  sso.updateSsoSettings(w.member('owner'), input);

export const trail = async (w: Workspace) =>
  (await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } })).map((row) => ({
    what: `${row.action} ${row.resource_type}`,
    details: row.details as Record<string, unknown>,
  }));
