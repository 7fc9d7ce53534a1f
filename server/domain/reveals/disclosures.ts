import { detailsWithheld } from '#server/domain/audit-logs/service.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { confirmGrant } from '#server/kernel/confirmations.ts';
import { type Ctx, roleOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { env } from '#server/platform/env.ts';
import { missingRight } from './rights.ts';

/** What people read only as Owner or Admin: payloads always by a reveal, details of audit entries while the workspace withholds them. */
type Disclosed = 'log:read_payload' | 'audit_log:read_details';

/**
 * Whoever has payloads or details of audit entries sent to a place could read them there, so it takes the right to read them, no policy against it and, where
 * that is a reveal, a confirmation. API keys have no role: they may have payloads sent, and audit entries that they may list. `added` is what wasn't sent to
 * that place before, each with what to say to those who may not. @throws Refusal role_denied, forbidden, mfa_required, step_up_required
 */
export async function confirmDisclosure(tx: Tx, ctx: Ctx, added: Readonly<Partial<Record<Disclosed, string>>>): Promise<void> {
  const capabilities = Object.keys(added) as Disclosed[];
  const role = roleOf(ctx.actor);
  for (const capability of capabilities) {
    const may = role === null || !missingRight({ role, reveal_secrets: false }, { capabilities: [capability], of: 'B' });
    if (!may || (capability === 'audit_log:read_details' && !ctx.actor.capabilities.has('audit_log:list')))
      throw new Refusal(ctx.actor.type === 'member' ? 'role_denied' : 'forbidden', added[capability] ?? '');
    const policy = await denyingPolicy(ctx, capability);
    if (policy) throw policyDenied(ctx, policy, capability);
  }
  const free: Disclosed[] = (await detailsWithheld(tx, ctx)) ? [] : ['audit_log:read_details'];
  await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: free, after: capabilities });
}
