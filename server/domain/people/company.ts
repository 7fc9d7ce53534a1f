import { COMPANY_FIELDS, type CompanyField } from '#server/domain/tenants/company.schema.ts';
import { updateCompany } from '#server/domain/tenants/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type AuditEntry, writeAudit } from '#server/kernel/mutate.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { hasFactor, mfaRequired } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { auditCtx } from './audit.ts';
import { assertMayEnter, scopeMismatch, type WorkspaceRow, workspacesOf } from './memberships.ts';

type Given = Partial<Record<CompanyField, unknown>>;

/** Whether any of the six is present, null included. */
export const hasCompanyField = (input: Given): boolean => COMPANY_FIELDS.some((field) => input[field] !== undefined);

/** Whether the person may see and change the company details of a workspace of theirs. */
export const managesCompany = ({ role }: Pick<WorkspaceRow, 'role'>): boolean => role === 'owner' || role === 'admin';

/**
 * Changes the company details of the workspace that the person joined first, whichever is selected, in the transaction of the profile. Judged in the order
 * of interface rule 22 §6: role, second factor, scope of the session, the values. @throws Refusal role_denied, mfa_required, session_scope_mismatch,
 * forbidden, sso_required, invalid
 */
export async function updateFirstCompany(tx: Tx, ctx: SignedInCtx, input: Given): Promise<void> {
  const first = (await workspacesOf(tx, ctx.user.id))[0];
  if (!first || !managesCompany(first))
    throw new Refusal(
      'role_denied',
      'Only an Owner or Admin of the first workspace you joined can change its company details. Nothing was saved.',
    );
  if (!(await hasFactor(tx, ctx.user.id))) throw mfaRequired(env.PUBLIC_ADMIN_URL);
  if (ctx.session.scope_tenant_id && ctx.session.scope_tenant_id !== first.id) throw scopeMismatch();
  await assertMayEnter(tx, first, ctx);
  const entry = await updateCompany(tx, first.id, input, ctx.now).catch((error: unknown) => {
    throw error instanceof Refusal && error.type === 'invalid' ? sentenceAsError(error) : error;
  });
  if (entry) await recordUpdate(tx, ctx, first, entry);
}

/** The one failure whose `error` is the sentence itself (interface rule 22 §1). */
const sentenceAsError = ({ message }: Refusal) => new Refusal('invalid', message, { extra: { error: message } });

const recordUpdate = (tx: Tx, ctx: SignedInCtx, { id, name }: WorkspaceRow, entry: AuditEntry) =>
  writeAudit(tx, auditCtx(ctx, { id: ctx.user.id, email: ctx.user.email, session_id: ctx.session.id }, id), { ...entry, name });
