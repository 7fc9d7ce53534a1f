import { sendMail } from '#server/domain/mail/service.ts';
import { factorChanged } from '#server/domain/mail/templates.ts';
import { type AuditedCall, auditEnding, auditPerson, type Ended, tenantIdsOf } from '#server/domain/people/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Person, PersonCtx } from '#server/kernel/person.ts';
import { inBackground } from '#server/platform/background.ts';
import { env } from '#server/platform/env.ts';

export type FactorKind = 'totp' | 'passkey' | 'security_key' | 'recovery_codes';
type Owner = Pick<Person, 'id' | 'email'>;
type FactorEntry = {
  action: 'create' | 'update' | 'delete' | 'rotate' | 'login' | 'login_failed';
  id: string | null;
  kind: FactorKind | null;
  name?: string;
  details?: Record<string, unknown>;
  /** What ended with the change. */
  ended?: Ended;
};

/** Written to every workspace of the person (interface rule 22 §12). */
export async function auditFactor(tx: Tx, ctx: AuditedCall & Pick<PersonCtx, 'session'>, person: Owner, entry: FactorEntry): Promise<void> {
  const { action, id, kind, name, details, ended } = entry;
  const doer = { ...person, session_id: ctx.session?.id ?? null };
  const row = {
    action,
    resource_type: 'mfa_credential',
    resource_id: id,
    name: name ?? person.email,
    details: { ...(kind ? { kind } : {}), ...details },
  };
  await (ended ? auditEnding(tx, ctx, doer, row, ended) : auditPerson(tx, ctx, doer, await tenantIdsOf(tx, person.id), row));
}

/** Tells the person by mail, after the commit: whoever took over a session must not change factors unseen. */
export const notifyOfFactor = (
  ctx: Pick<PersonCtx, 'db' | 'ip' | 'now'>,
  person: Owner,
  what: string,
  ended?: { sessions: number; apps: number },
): void =>
  inBackground('factor notice', () =>
    sendMail(ctx.db, {
      to: person.email,
      kind: 'factor_changed',
      letter: factorChanged(what, { ip: ctx.ip, at: ctx.now, ...(ended ? { ended } : {}) }, `${env.PUBLIC_ADMIN_URL}/me/security`),
      now: ctx.now,
    }),
  );
