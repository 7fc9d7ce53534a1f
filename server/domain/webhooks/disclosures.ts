import { detailsWithheld } from '#server/domain/audit-logs/service.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import { missingRight } from '#server/domain/reveals/service.ts';
import { confirmGrant } from '#server/kernel/confirmations.ts';
import { type Ctx, roleOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { originOf } from '#server/kernel/moves.ts';
import { env } from '#server/platform/env.ts';
import type { WebhookRow } from './store.ts';

type Sent = Pick<WebhookRow, 'url' | 'event_types' | 'include_request_body' | 'include_response_body' | 'include_headers'>;
const GUARDED = ['log:read_payload', 'audit_log:read_details'] as const;

/** What people read only as Owner or Admin, and payloads only by a reveal. */
const disclosed = (hook: Sent) => ({
  'log:read_payload':
    hook.event_types.some((type) => type.startsWith('request.')) &&
    (hook.include_request_body || hook.include_response_body || hook.include_headers),
  'audit_log:read_details': hook.event_types.includes('audit.event'),
});

/** A person has payloads sent only where they say so: what they leave out must not ask. */
export const sendsBodiesUnsaid = (ctx: Ctx): boolean => roleOf(ctx.actor) === null;

/**
 * Whoever has payloads or details of audit entries sent to a place could read them there, so it takes the right to read them and, where that is a reveal, a
 * confirmation. A webhook that goes to another origin discloses everything anew. API keys have no role: they may have payloads sent, and audit entries that
 * they may list. @throws Refusal role_denied, forbidden, mfa_required, step_up_required
 */
export async function confirmDisclosure(tx: Tx, ctx: Ctx, before: Sent | null, after: Sent): Promise<void> {
  const [had, has] = [before && originOf(before.url) === originOf(after.url) ? disclosed(before) : null, disclosed(after)];
  const added = GUARDED.filter((capability) => has[capability] && !had?.[capability]);
  const role = roleOf(ctx.actor);
  for (const capability of added) {
    const may = role === null || !missingRight({ role, reveal_secrets: false }, { capabilities: [capability], of: 'B' });
    if (!may || (capability === 'audit_log:read_details' && !ctx.actor.capabilities.has('audit_log:list')))
      throw new Refusal(ctx.actor.type === 'member' ? 'role_denied' : 'forbidden', REFUSED[capability]);
    const policy = await denyingPolicy(ctx, capability);
    if (policy) throw policyDenied(ctx, policy, capability);
  }
  const free = (await detailsWithheld(tx, ctx)) ? [] : (['audit_log:read_details'] as const);
  await confirmGrant(tx, ctx, env.PUBLIC_ADMIN_URL, { before: free, after: added });
}

const REFUSED = {
  'log:read_payload':
    'Sending bodies and headers of calls takes an Owner or Admin, who may read them. Set include_request_body, include_response_body and include_headers to false, or ask one of them.',
  'audit_log:read_details':
    'Sending audit.event takes an Owner or Admin, or a credential with the scope audit_logs:read, since it has the details of audit entries. Leave it out of event_types, or ask one of them.',
};
