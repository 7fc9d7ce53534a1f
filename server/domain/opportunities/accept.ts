import type { z } from 'zod';
import { createCollection } from '#server/domain/collections/service.ts';
import { defaultEnvironment, heldEnvironment } from '#server/domain/environments/service.ts';
import { raise } from '#server/domain/events/service.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import { routeSlugFrom } from '#server/domain/routes/schema.ts';
import { checkTarget, freeRouteSlug, insertRoute } from '#server/domain/routes/service.ts';
import { hostAllowed, secretByRef } from '#server/domain/secrets/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { COLLECTION, escrowedHosts } from './detection.ts';
import { serviceOf } from './known-services.ts';
import type { AcceptOpportunity, SuggestedRoute } from './schema.ts';
import { AWAKE, entryOf, openOpportunity } from './service.ts';

type Input = z.output<typeof AcceptOpportunity>;
type Binding = { secret_id: string; header_name: string | undefined; value_prefix: string | undefined };

/**
 * Makes the route of a suggestion with its credential bound (interface rule 34 §5.5): collection, route and decision in one transaction.
 * @throws Refusal not_found; conflict when it is decided already; plan_limit; validation_error without a secret to bind
 */
export async function acceptOpportunity(ctx: Ctx, input: Input) {
  const host = await hostOf(ctx, input.id);
  const target_base_url = `https://${host}${input.base_path === '/' ? '' : (input.base_path ?? '')}`;
  await checkTarget(ctx, 'base_path', target_base_url);
  return mutate(ctx, async (tx) => {
    const row = await openOpportunity(tx, ctx, input.id);
    const suggested = row.suggested_route_json as SuggestedRoute | null;
    const environment = await heldEnvironment(tx, ctx, input.environment ?? (await defaultEnvironment(tx, ctx)).name);
    if (!environment) throw invalid('environment', 'no such environment in this space');
    const binding = await bindingFor(tx, ctx, input.secret, host, environment.name);
    const service = serviceOf(host);
    const header_name = input.header_name ?? binding.header_name ?? suggested?.header_name ?? service.header_name;
    const value_prefix = input.value_prefix ?? binding.value_prefix ?? suggested?.value_prefix ?? service.value_prefix;

    await withinPlan(tx, ctx, 'routes');
    const collection = await collectionNamed(tx, ctx, input.collection_name ?? suggested?.collection_name ?? COLLECTION);
    const name = await freeName(tx, ctx, input.route_name ?? suggested?.name ?? service.name);
    const { row: route, entry } = await insertRoute(tx, ctx, {
      name,
      slug: input.slug ?? (await freeRouteSlug(tx, ctx, routeSlugFrom(name))),
      target_base_url,
      base_environment: environment.name,
      collection_id: collection.id,
      inject_headers_json: { [header_name]: `${value_prefix}{{secret_id:${binding.secret_id}}}` },
      requires_clients: false,
      intercept_enabled: input.intercept_enabled ?? true,
    });

    const siblings = await tx.opportunities.updateManyAndReturn({
      where: { ...own(ctx), destination_host: host, status: { not: 'onboarded' } },
      data: { status: 'onboarded', accepted_route_id: route.id, ...AWAKE, acted_at: ctx.now, updated_at: ctx.now },
      select: { id: true, destination_host: true },
    });
    const details = { route_id: route.id, secret_id: binding.secret_id, environment: environment.name };
    await raise(tx, ctx, [
      {
        type: 'opportunity.accepted',
        source_id: row.id,
        data: { opportunity_id: row.id, destination_host: host, service: row.service, ...details },
      },
    ]);
    return audited(
      {
        opportunity_id: row.id,
        route: { id: route.id, slug: route.slug, name: route.name },
        collection_id: collection.id,
        environment: environment.name,
      },
      entry,
      siblings.map((one) => ({ ...entryOf(one, 'accept'), details })),
    );
  });
}

const hostOf = (ctx: Ctx, id: string): Promise<string> =>
  read(ctx, async (tx) => {
    const row = isUuid(id) ? await tx.opportunities.findFirst({ where: { ...own(ctx), id }, select: { destination_host: true } }) : null;
    if (!row) throw notFound();
    return row.destination_host;
  });

/** The secret that the caller names, else the credential in escrow that may go to the host and was used last. @throws Refusal validation_error */
async function bindingFor(tx: Tx, ctx: Ctx, ref: string | undefined, host: string, environment: string): Promise<Binding> {
  const escrows = await escrowedHosts(tx, ctx, environment);
  if (ref === undefined) {
    const escrow = escrows.find(({ hosts }) => hostAllowed(hosts, host));
    if (!escrow) throw invalid('secret', 'no secret to bind: name one, or escrow a key for this host first');
    return bound(escrow.id, escrow.placement);
  }
  const secret = await secretByRef(tx, ctx, isUuid(ref) ? { id: ref.toLowerCase() } : { name: ref });
  if (!secret) throw invalid('secret', 'no such secret in this space');
  if (secret.secret_type !== 'string' && secret.secret_type !== 'oauth2')
    throw invalid('secret', 'must be a secret of type string or oauth2');
  if (!hostAllowed(secret.allowed_hosts as string[] | null, host))
    throw invalid('secret', `can't be sent to ${host}: it is pinned to other hosts`);
  if (secret.linked_share_id === null) {
    const value = await tx.secret_environments.findFirst({
      where: { ...own(ctx), secret_id: secret.id, environment_name: environment, current_value_id: { not: null } },
      select: { id: true },
    });
    if (!value) throw invalid('secret', `has no value in ${environment}`);
  }
  return bound(secret.id, escrows.find(({ id }) => id === secret.id)?.placement ?? {});
}

const bound = (secret_id: string, placement: { header_name?: string; value_prefix?: string }): Binding => ({
  secret_id,
  header_name: placement.header_name,
  value_prefix: placement.value_prefix,
});

async function collectionNamed(tx: Tx, ctx: Ctx, name: string): Promise<{ id: string }> {
  const known = await tx.collections.findFirst({ where: { ...own(ctx), name }, select: { id: true } });
  return known ?? createCollection({ ...ctx, tx }, { name });
}

async function freeName(tx: Tx, ctx: Ctx, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name.slice(0, 99 - String(n).length)}-${n}`;
    if (!(await tx.routes.findFirst({ where: { ...own(ctx), name: candidate }, select: { id: true } }))) return candidate;
  }
}
