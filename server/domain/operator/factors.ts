import { dispatch, postMail } from '#server/domain/mail/service.ts';
import { factorChanged } from '#server/domain/mail/templates.ts';
import { canonicalEmail, endedInAll, endPerson, lockPerson, tenantIdsOf } from '#server/domain/people/service.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { audit } from './acting.ts';

/** For a person who lost every factor and has no recovery code left: they sign in by the first factor alone and enrol new ones. They are told by mail. */
export async function resetFactors(input: { email: string }) {
  const now = new Date();
  const { mail, ...result } = await db().$transaction(async (tx) => {
    const user = await tx.users.findUnique({ where: { email: canonicalEmail(input.email) }, select: { id: true, email: true } });
    if (!user) throw new Refusal('not_found', `No person has the address ${input.email}.`);
    await lockPerson(tx, user.id);
    const where = { user_id: user.id };
    const { count: passkeys } = await tx.webauthn_credentials.deleteMany({ where });
    const { count: apps } = await tx.totp_secrets.deleteMany({ where });
    await tx.recovery_codes.deleteMany({ where });
    await tx.webauthn_challenges.deleteMany({ where });
    const all = await endPerson(tx, { user_id: user.id, reason: 'factors_reset', now });
    const { sessions, apps: logins } = endedInAll(all);
    for (const tenantId of await tenantIdsOf(tx, user.id))
      await audit(tx, tenantId, {
        action: 'delete',
        resource_type: 'mfa_credential',
        resource_id: null,
        name: user.email,
        details: { passkeys, apps, ended: { sessions, apps: all.apps[tenantId] ?? 0 } },
      });
    const letter = factorChanged(
      'All second factors were removed by the operator',
      { ip: null, at: now, ended: { sessions, apps: logins } },
      `${env.PUBLIC_ADMIN_URL}/me/security`,
    );
    const sent = await postMail(tx, { to: user.email, kind: 'factor_changed', letter, now });
    return { email: user.email, passkeys, apps, sessions, connected_apps: logins, mail: sent };
  });
  dispatch(db(), mail);
  return result;
}
