import { type Backing, type BackingRule, backingColumn, backingFault, subjectOf } from '#server/custody/backing.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { sql } from '#server/platform/sql.ts';
import { unauthorized } from './problem.ts';

/** An account is a long-lived credential that another credential made. It must never get what that one can't get any more. */
const RULE: BackingRule = { needs: 'pki:sign', people: 'end' };

/**
 * Refuses when the credential that made the account ended, lost the right to sign certificates or may not be used from this address. Policies see that
 * credential from then on. @throws AcmeProblem unauthorized
 */
export async function assertBacked(ctx: Ctx, account: { id: string }): Promise<void> {
  const { tenant_id, sandbox } = own(ctx);
  const { rows } = await sql().query<{ backing: Backing | null }>({
    name: 'acme-backing',
    text: `select ${backingColumn('a.minted_by_id', 'a.tenant_id')} from acme_accounts a where a.id = $1 and a.tenant_id = $2 and a.sandbox = $3`,
    values: [account.id, tenant_id, sandbox],
  });
  const [row] = rows;
  const fault = row ? backingFault(row.backing, RULE, { now: ctx.now.getTime(), ip: ctx.ip }) : 'ended';
  if (fault === 'address')
    throw unauthorized("The credential that this account was created with can't be used from this IP address. Add it to its IP allowlist.");
  if (fault)
    throw unauthorized(
      'The credential that this account was created with has ended or may no longer sign certificates. Create a new ACME account with another one.',
    );
  if (ctx.actor.type === 'acme_account') ctx.actor.acts_for = [subjectOf(row?.backing ?? null)];
}
