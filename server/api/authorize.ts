import { recordCapabilityUse } from '#server/domain/api-keys/capability-usage.ts';
import { policyDenied, policyDenyingCall } from '#server/domain/policies/service.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import { type Capability, PERSON_FORBIDDEN, rolesWith } from '#server/kernel/capabilities.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { sufficientSets } from '#server/kernel/needs.ts';
import { type AnyOperation, isWork } from '#server/kernel/operation.ts';

/** What the check of rights reads of an operation. This file loads no Prisma, so that the gateway process can use it. */
type Asked = Pick<AnyOperation, 'id' | 'summary' | 'kind' | 'needs' | 'while_inactive' | 'http' | 'asks_policies'>;

/**
 * The caller holds the capabilities that the operation needs, and no tenant policy denies them (interface rule 24 §7).
 * `input` is what the call sends, read only when a policy is narrowed to single resources.
 * @throws Refusal subscription_inactive, role_denied for people, forbidden for machines, dependency_unavailable when policies can't be read
 */
export async function authorize(op: Asked, ctx: HotCtx, input: () => Record<string, unknown>): Promise<void> {
  if (op.needs === 'anonymous' || op.needs === 'client_token') return;
  if (!isServable(ctx) && isWork(op) && !op.while_inactive)
    throw new Refusal(
      'subscription_inactive',
      `This workspace's subscription is ${ctx.subscription_status?.replace('_', ' ')}. You can read data and revoke keys, but not make changes.`,
    );
  let refuse: (() => Refusal) | undefined;
  for (const set of sufficientSets(op.needs)) {
    const problem = await refusalFor(op, ctx, set, input);
    if (!problem) return recordCapabilityUse(ctx, set);
    refuse ??= problem;
  }
  throw refuse?.() ?? new Error(`${op.id} can be used by nobody`);
}

/** Keys have met this rule at authentication; members keep reading and leaving (interface rule 20 §5). */
const isServable = (ctx: HotCtx) => ctx.subscription_status === undefined || isServableStatus(ctx.subscription_status);

/** Why one of the sufficient sets of capabilities does not serve this caller; undefined when it does. */
async function refusalFor(
  op: Asked,
  ctx: HotCtx,
  capabilities: readonly Capability[],
  input: () => Record<string, unknown>,
): Promise<(() => Refusal) | undefined> {
  for (const capability of capabilities) {
    if (!holds(ctx, capability)) return () => missing(ctx, op, capability);
    const policy = await policyDenyingCall(ctx, op, capability, input);
    if (policy) return () => policyDenied(ctx, policy, capability);
  }
  return undefined;
}

/** A person's token never carries what only reveals give a person, whatever its row says (interface rule 24 §5). */
const holds = ({ actor }: HotCtx, capability: Capability): boolean =>
  actor.capabilities.has(capability) && !(actor.type === 'oauth_token' && actor.user_id !== null && PERSON_FORBIDDEN.has(capability));

/** Names what is missing and, to a person, the roles that have it: the next step is to ask for one of them. */
function missing({ actor }: HotCtx, op: Asked, capability: Capability): Refusal {
  if (actor.type !== 'member') return new Refusal('forbidden', `This credential lacks the capability ${capability}.`);
  const roles = rolesWith(capability).map((role) => role[0]?.toUpperCase() + role.slice(1));
  const who = roles.length === 0 ? 'Only machine credentials have it.' : `Roles with access: ${new Intl.ListFormat('en').format(roles)}.`;
  return new Refusal('role_denied', `Your role (${actor.role}) lacks the capability ${capability}, required for: ${op.summary}. ${who}`);
}
