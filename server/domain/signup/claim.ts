import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { auditCtx } from '#server/domain/people/service.ts';
import { apiUrl, proxyUrl } from '#server/domain/tenants/addresses.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { LONG, POLL_SECONDS } from './service.ts';
import { documentationUrl, firstCall, mintStarterKey, STARTER_ROUTE } from './starter.ts';

const system = { type: 'system', id: null, label: 'sign-up', capabilities: new Set<never>() } as const;

/**
 * The one collection of a confirmed sign-up (interface rule 20 §7.3). The starter key is minted in the collecting transaction, so its text was
 * never stored; of two collections at once one gets it. A claim of a known address stays pending, like one whose link was not used yet.
 * @throws Refusal not_found, claim_already_collected, rate_limit_exceeded
 */
export async function collectClaim(ctx: Ctx, input: { claim_handle: string }) {
  await throttled(
    [
      { what: 'claim-ip', subject: network(ctx.ip), limit: 60, window_sec: 60 },
      { what: 'claim-handle', subject: input.claim_handle, limit: 30, window_sec: 60 },
    ],
    ctx.now,
    'rate_limit_exceeded',
  );
  const known = classifyCredential(input.claim_handle).kind === 'claim_handle';
  const claim = known ? await ctx.db.signup_claims.findUnique({ where: { digest: new Uint8Array(digest(input.claim_handle)) } }) : null;
  if (!claim || claim.expires_at <= ctx.now) throw new Refusal('not_found', 'This claim handle is unknown or has expired.');
  if (!claim.ready_at || !claim.tenant_id)
    return {
      status: 'pending' as const,
      message: "The emailed link hasn't been used yet.",
      poll_after_seconds: POLL_SECONDS,
      expires_at: claim.expires_at,
    };
  const tenantId = claim.tenant_id;
  return ctx.db.$transaction(async (tx) => {
    const { count } = await tx.signup_claims.updateMany({ where: { id: claim.id, collected_at: null }, data: { collected_at: ctx.now } });
    if (count === 0)
      throw new Refusal(
        'claim_already_collected',
        "This claim was already collected. Its key can't be shown again. Create a new one in the dashboard.",
      );
    return ready(tx, ctx, tenantId, { id: claim.user_id ?? '', email: claim.email });
  }, LONG);
}

async function ready(tx: Tx, ctx: Ctx, tenantId: string, owner: { id: string; email: string }) {
  const tenant = await tx.tenants.findUniqueOrThrow({ where: { id: tenantId } });
  const key = await mintStarterKey(tx, tenant.id, system, ctx.now);
  await writeAudit(tx, auditCtx(ctx, owner, tenant.id, true), {
    action: 'create',
    resource_type: 'api_key',
    resource_id: key.id,
    name: key.name,
    details: { key_id: key.key_id, key_type: key.key_type, via: 'signup' },
  });
  const route = await tx.routes.findFirst({
    where: { tenant_id: tenant.id, sandbox: true, slug: STARTER_ROUTE },
    select: { id: true, name: true, configs: { where: { is_base: true }, select: { target_base_url: true } } },
  });
  const host = proxyUrl(tenant.slug, 'test');
  return {
    status: 'ready' as const,
    tenant: { id: tenant.id, slug: tenant.slug, name: tenant.name, region: tenant.region, plan: tenant.subscription_plan },
    starter: {
      route: route && { id: route.id, name: route.name, target_base_url: route.configs[0]?.target_base_url ?? '' },
      api_key: { ...key, key_type: 'test' as const },
      sandbox_host: host,
      curl: firstCall(tenant.slug, key.api_key),
    },
    sandbox: {
      management_api: apiUrl('test'),
      proxy_host: host,
      note: "Everything here is test data. It doesn't count against the plan, and Test keys don't work in Live.",
    },
    documentation: documentationUrl(),
  };
}
