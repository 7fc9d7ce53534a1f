import { headerTemplate, type Provider } from '#server/ai/providers/catalogue.ts';
import { bedrockRegion } from '#server/ai/providers/region.ts';
import { CreateRoute } from '#server/domain/routes/schema.ts';
import { insertRoute } from '#server/domain/routes/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';

/** What marks a route that an agent brought with it. */
export const MANAGED_BY = 'ai_gateway';

type Composed = { slug: string; provider: Provider; target: string; secretId: string | null };

/**
 * The route of an agent that is made for a provider (interface rule 50 §5.2): its key is injected by reference, and never copied. It serves the agent alone.
 * `target` was checked. @throws Refusal validation_error for an unknown secret
 */
export async function composeRoute(tx: Tx, ctx: Ctx, { slug, provider, target, secretId }: Composed) {
  const name = await freeName(tx, ctx, `ai-gateway-${slug}`);
  const input = CreateRoute.parse({
    name,
    slug: null,
    enabled: true,
    requires_clients: false,
    // What people write to a model is no template.
    body_placeholders: 'off',
    target_base_url: target,
    ...credentialOf(provider, target, secretId),
  });
  const { row, entry } = await insertRoute(tx, ctx, input);
  await tx.routes.update({ where: { id: row.id, ...own(ctx) }, data: { managed_by: MANAGED_BY }, select: { id: true } });
  return { id: row.id, entry: { ...entry, details: { ...entry.details, managed_by: MANAGED_BY } } };
}

/** What the route sends as the provider's credential: nothing for one that has none. */
export function credentialOf(provider: Provider, target: string, secretId: string | null) {
  if (secretId === null) return {};
  const { credential } = provider;
  if (credential.kind === 'aws_sigv4') {
    const region = bedrockRegion(URL.parse(target)?.hostname ?? '');
    if (region === undefined)
      throw invalid(
        'upstream',
        'must be https://bedrock-runtime.<region>.amazonaws.com or a VPC endpoint of it: calls are signed for the region',
      );
    return { upstream_auth: { type: 'aws_sigv4' as const, secret_id: secretId, region, service: credential.service } };
  }
  const reference = `{{secret_id:${secretId}}}`;
  // The account's key is exchanged for an access token when a call is made: what is injected is never the key itself.
  if (credential.kind === 'google_service_account') return { inject_headers_json: { Authorization: `Bearer ${reference}` } };
  return { inject_headers_json: headerTemplate(provider, reference) };
}

/** name, name-2, name-3, … */
async function freeName(tx: Tx, ctx: Ctx, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    if (!(await tx.routes.findFirst({ where: { ...own(ctx), name: candidate }, select: { id: true } }))) return candidate;
  }
}

/** The route of an archived agent is disabled, and from then on people may change or delete it. */
export async function releaseRoute(tx: Tx, ctx: Ctx, { primary_route_id }: { primary_route_id: string | null }): Promise<AuditEntry[]> {
  if (primary_route_id === null) return [];
  const where = { ...own(ctx), id: primary_route_id, managed_by: MANAGED_BY };
  const route = await tx.routes.findFirst({ where, select: { id: true, name: true } });
  if (!route) return [];
  await tx.routes.updateMany({ where, data: { enabled: false, managed_by: null, config_version: { increment: 1 }, updated_at: ctx.now } });
  return [{ action: 'disable', resource_type: 'route', resource_id: route.id, name: route.name, details: { released_by: MANAGED_BY } }];
}
