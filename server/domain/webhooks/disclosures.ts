import { confirmDisclosure } from '#server/domain/reveals/service.ts';
import { type Ctx, roleOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { WebhookRow } from './store.ts';

type Sent = Pick<WebhookRow, 'event_types' | 'include_request_body' | 'include_response_body' | 'include_headers'>;
const GUARDED = ['log:read_payload', 'audit_log:read_details'] as const;

const disclosed = (hook: Sent) => ({
  'log:read_payload':
    hook.event_types.some((type) => type.startsWith('request.')) &&
    (hook.include_request_body || hook.include_response_body || hook.include_headers),
  'audit_log:read_details': hook.event_types.includes('audit.event'),
});

/** A person has payloads sent only where they say so: what they leave out must not ask. */
export const sendsBodiesUnsaid = (ctx: Ctx): boolean => roleOf(ctx.actor) === null;

/**
 * `before` is what the same receiver is sent so far. Another address, also on the same host, and other credentials there are another receiver: hosts of many
 * customers tell them apart by these. @throws Refusal what `confirmDisclosure` throws
 */
export async function confirmSent(tx: Tx, ctx: Ctx, before: Sent | null, after: Sent): Promise<void> {
  const [had, has] = [before && disclosed(before), disclosed(after)];
  const added = GUARDED.filter((capability) => has[capability] && !had?.[capability]);
  await confirmDisclosure(tx, ctx, Object.fromEntries(added.map((capability) => [capability, REFUSED[capability]])));
}

const REFUSED = {
  'log:read_payload':
    'Sending bodies and headers of calls takes an Owner or Admin, who may read them. Set include_request_body, include_response_body and include_headers to false, or ask one of them.',
  'audit_log:read_details':
    'Sending audit.event takes an Owner or Admin, or a credential with the scope audit_logs:read, since it has the details of audit entries. Leave it out of event_types, or ask one of them.',
};
