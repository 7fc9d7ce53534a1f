import type { z } from 'zod';
import { contentFingerprint } from '#server/crypto/canonical-json.ts';
import { defaultEnvironment, environmentByName } from '#server/domain/environments/service.ts';
import { byPrecedence, effectiveConfig, interceptedTarget } from '#server/domain/routes/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { egress } from '#server/platform/egress.ts';
import { env } from '#server/platform/env.ts';
import type { InterceptManifest, InterceptManifestQuery } from './schema.ts';

type Manifest = z.output<typeof InterceptManifest>;
type Entry = Manifest['routes'][number];

/**
 * The hosts that SDKs send through routes in one environment (interface rule 34 §2). Read anew for every call: only routes with interception are read, so
 * every process answers with the same version at the same time. @throws Refusal not_found for an unknown environment
 */
export function interceptManifest(ctx: Ctx, { environment }: z.output<typeof InterceptManifestQuery>): Promise<Manifest> {
  return read(ctx, async (tx) => {
    const where = environment === undefined ? await defaultEnvironment(tx, ctx) : await environmentByName(tx, ctx, environment);
    if (!where) throw notFound();
    const routes = inManifestOrder(await entriesIn(tx, ctx, where.name));
    return {
      version: versionOf(routes),
      ttl_seconds: env.MANIFEST_TTL_SECONDS,
      environment: where.name,
      sandbox: ctx.sandbox,
      routes,
    };
  });
}

/** `sha256:` and the digest of the entries as canonical JSON (RFC 8785). */
export const versionOf = (routes: readonly Entry[]): string => `sha256:${contentFingerprint(routes)}`;

/** In the order in which clients try them; entries that nothing but their slug tells apart are marked. */
export function inManifestOrder(entries: readonly Omit<Entry, 'ambiguous'>[]): Entry[] {
  const sorted = [...entries].sort(byPrecedence);
  return sorted.map((entry, i) => {
    const isTwin = (other: Omit<Entry, 'ambiguous'> | undefined) => other?.host === entry.host && other.base_path === entry.base_path;
    return isTwin(sorted[i - 1]) || isTwin(sorted[i + 1]) ? { ...entry, ambiguous: true as const } : entry;
  });
}

async function entriesIn(tx: Tx, ctx: Ctx, environment: string): Promise<Omit<Entry, 'ambiguous'>[]> {
  const candidates = await tx.$queryRaw<{ id: string }[]>`
    select distinct route_id as id from route_environment_configs
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and intercept_enabled`;
  if (candidates.length === 0) return [];
  const rows = await tx.routes.findMany({
    where: { ...own(ctx), id: { in: candidates.map(({ id }) => id) }, enabled: true, managed_by: null, slug: { not: null } },
    include: { configs: { where: { OR: [{ is_base: true }, { environment_name: environment }] } } },
  });
  const served = rows.flatMap((route) => {
    const base = route.configs.find((config) => config.is_base);
    const here = route.configs.find((config) => config.environment_name === environment);
    if (!base || !here) return [];
    const effective = effectiveConfig(base, here.is_base ? null : here);
    return effective.enabled && effective.intercept_enabled ? [{ route, base, here, effective }] : [];
  });
  const variable = served.some(({ effective }) => effective.target_base_url.includes('{{')) ? await variablesOf(tx, ctx) : () => undefined;
  return served.flatMap(({ route, base, here, effective }) => {
    const target = interceptedTarget(
      effective.target_base_url,
      (collection, key) => variable(collection, key, route.collection_id),
      egress().settings,
    );
    if (!target) return [];
    const restricted = effective.http_method_restrictions_enabled ? (effective.allowed_methods ?? []).map((m) => m.toUpperCase()) : null;
    return [
      {
        ...target,
        slug: route.slug as string,
        route_id: route.id,
        requires_clients: effective.requires_clients,
        allowed_methods: restricted,
        updated_at: new Date(Math.max(...[route, base, here].map((row) => row.updated_at.getTime()))).toISOString(),
      },
    ];
  });
}

/** Values by the slug of their collection, or by the collection of the route. */
async function variablesOf(tx: Tx, ctx: Ctx) {
  const rows = await tx.collection_variables.findMany({
    where: { ...own(ctx), type: 'value' },
    select: { key: true, value: true, collection: { select: { id: true, slug: true } } },
  });
  const values = new Map<string, string | undefined>();
  for (const { key, value, collection } of rows) {
    values.set(`id ${collection.id} ${key}`, value ?? undefined);
    values.set(`slug ${collection.slug} ${key}`, value ?? undefined);
  }
  return (collection: string | null, key: string, ofRoute: string | null) =>
    values.get(collection === null ? `id ${ofRoute} ${key}` : `slug ${collection} ${key}`);
}
