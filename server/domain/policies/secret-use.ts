import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { policyDenied } from './denials.ts';
import { denyingPolicy } from './enforcement.ts';

/**
 * Whoever lets something send a secret, or says where the secrets that it sends go, must be able to read secrets (scope `secrets:read`), and no policy may deny
 * them one of these: else a key that can't could have any secret sent to a host of its own. Every door asks this: routes, variables, webhooks, workflows, MCP
 * servers and AI agents. Nothing is asked about no secrets. @throws Refusal forbidden, role_denied
 */
export async function assertUsesSecrets(ctx: Ctx, secretIds: Iterable<string>, noun: string): Promise<void> {
  const ids = new Set(secretIds);
  if (ids.size === 0) return;
  if (!ctx.actor.capabilities.has('secret:read')) throw secretsScopeMissing(ctx, noun);
  for (const id of ids) {
    const policy = await denyingPolicy(ctx, 'secret:read', { id });
    if (policy) throw policyDenied(ctx, policy, 'secret:read');
  }
}

export const secretsScopeMissing = ({ actor }: Ctx, noun: string): Refusal =>
  new Refusal(
    actor.type === 'member' ? 'role_denied' : 'forbidden',
    `Letting ${noun} send a secret, or changing where it sends one, takes the capability secret:read. Use a credential with the scope secrets:read, or leave the secrets and their destination as they are.`,
  );
