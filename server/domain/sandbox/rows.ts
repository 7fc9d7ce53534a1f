import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { MOST_CONFIGURATIONS } from './schema.ts';

/** Rows of one space with what belongs to them, as both sides of a promotion read them. Nothing sealed is ever among them. */

const SECRET = {
  id: true,
  name: true,
  shortcode_name: true,
  secret_type: true,
  description: true,
  tags: true,
  collection_id: true,
  strict_expiry_enforcement: true,
  expires_at: true,
  allowed_hosts: true,
  rotate_every_days: true,
  provider_label: true,
  is_escrow: true,
  header_name: true,
  value_prefix: true,
  updated_at: true,
  // Which environments have a value, never the value.
  environments: { select: { environment_name: true, value_version: true, current_value_id: true, expires_at_override: true } },
} as const satisfies Prisma.secretsSelect;

const COLLECTION = { variables: { orderBy: { key: 'asc' } }, defaults: { orderBy: { environment_name: 'asc' } } } as const;
const CREDENTIALS = { select: { kind: true, label: true, is_primary: true, ip_range: true } } as const;
const ROUTE = {
  configs: { orderBy: [{ is_base: 'desc' }, { environment_name: 'asc' }] },
  assignments: { select: { client_id: true, environment_id: true, environment: { select: { name: true } } } },
  field_actions: { orderBy: [{ sort_order: 'asc' }, { created_at: 'asc' }, { id: 'asc' }] },
} as const satisfies Prisma.routesInclude;

export type EnvironmentRow = Prisma.environmentsGetPayload<Record<string, never>>;
export type SecretRow = Prisma.secretsGetPayload<{ select: typeof SECRET }>;
export type CollectionRow = Prisma.collectionsGetPayload<{ include: typeof COLLECTION }>;
export type ClientRow = Prisma.clientsGetPayload<{ include: { credentials: typeof CREDENTIALS } }>;
export type RouteRow = Prisma.routesGetPayload<{ include: typeof ROUTE }>;

export const environmentsOf = (tx: Tx, ctx: Ctx): Promise<EnvironmentRow[]> =>
  tx.environments.findMany({ where: own(ctx), orderBy: { name: 'asc' } });
export const secretsWhere = (tx: Tx, ctx: Ctx, where: Prisma.secretsWhereInput): Promise<SecretRow[]> =>
  tx.secrets.findMany({ where: { ...where, ...own(ctx) }, select: SECRET, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
export const collectionsWhere = (tx: Tx, ctx: Ctx, where: Prisma.collectionsWhereInput): Promise<CollectionRow[]> =>
  tx.collections.findMany({ where: { ...where, ...own(ctx) }, include: COLLECTION, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
export const clientsWhere = (tx: Tx, ctx: Ctx, where: Prisma.clientsWhereInput): Promise<ClientRow[]> =>
  tx.clients.findMany({
    where: { ...where, ...own(ctx) },
    include: { credentials: CREDENTIALS },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  });
/** @throws Refusal validation_error for more than one call can look at: counted before they are read */
export async function routesWhere(tx: Tx, ctx: Ctx, where: Prisma.routesWhereInput): Promise<RouteRow[]> {
  const mine = { ...where, ...own(ctx) };
  // By their ids: PostgreSQL takes a workspace for a few rows, and would hold each configuration against each route.
  const route_id = { in: (await tx.routes.findMany({ where: mine, select: { id: true } })).map(({ id }) => id) };
  if ((await tx.route_environment_configs.count({ where: { ...own(ctx), route_id } })) > MOST_CONFIGURATIONS)
    throw invalid('items', `the routes have more than ${grouped(MOST_CONFIGURATIONS)} configurations together: name fewer of them`);
  return tx.routes.findMany({ where: mine, include: ROUTE, orderBy: [{ name: 'asc' }, { id: 'asc' }] });
}

/** Whether a call in this environment would find a value. */
export const holdsValue = (secret: SecretRow, environment: string): boolean => environmentsHeld(secret).has(environment);

/** When the value in this environment ends; null for never. */
export const endOf = (secret: SecretRow, environment: string): Date | null =>
  environmentsHeld(secret).get(environment)?.expires_at_override ?? secret.expires_at;

function environmentsHeld(secret: SecretRow): ReadonlyMap<string, SecretRow['environments'][number]> {
  const known = held.get(secret);
  if (known) return known;
  const filled = secret.environments.filter((e) => e.value_version > 0 && e.current_value_id !== null);
  const names = new Map(filled.map((e) => [e.environment_name, e]));
  held.set(secret, names);
  return names;
}
const held = new WeakMap<SecretRow, ReadonlyMap<string, SecretRow['environments'][number]>>();
