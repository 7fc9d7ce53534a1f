import { type Draft, draftOf, localReferences } from '#server/domain/routes/transfer/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { grouped } from '#server/kernel/numbers.ts';
import {
  type ClientRow,
  type CollectionRow,
  clientsWhere,
  collectionsWhere,
  type EnvironmentRow,
  environmentsOf,
  type RouteRow,
  routesWhere,
  type SecretRow,
  secretsWhere,
} from './rows.ts';
import { FAMILIES, type Family, type Item, MOST_ITEMS } from './schema.ts';

/** What was picked in the space it comes from, and everything that refers to from there. */
export type Source = {
  picked: ReadonlySet<string>;
  /** By name: other rows refer to environments so. */
  environments: Map<string, EnvironmentRow>;
  collections: Map<string, CollectionRow>;
  secrets: Map<string, SecretRow>;
  clients: Map<string, ClientRow>;
  routes: Map<string, RouteRow>;
  drafts: Map<string, Draft>;
  /** Environments that something here names. */
  served: Set<string>;
  /** Names that more than one client of the space has. */
  namesakes: ReadonlySet<string>;
};

/** @throws Refusal validation_error naming the first item that is not in this space */
export async function loadSource(tx: Tx, ctx: Ctx, items: readonly Item[] | 'all'): Promise<Source> {
  const picks = items === 'all' ? await everything(tx, ctx) : items;
  const all = await environmentsOf(tx, ctx);
  const source: Source = {
    picked: new Set(picks.map((item) => item.id)),
    environments: new Map(all.map((row) => [row.name, row])),
    collections: new Map(),
    secrets: new Map(),
    clients: new Map(),
    routes: new Map(),
    drafts: new Map(),
    served: new Set(all.filter((row) => picks.some((p) => p.type === 'environment' && p.id === row.id)).map((row) => row.name)),
    namesakes: new Set(),
  };
  const idsOf = (family: Family) => picks.flatMap((p) => (p.type === family ? [p.id] : []));
  const next = nothingWanted();
  for (const id of idsOf('collection')) next.collections.add(id);
  for (const id of idsOf('secret')) next.secrets.add(id);
  for (const id of idsOf('client')) next.clients.add(id);
  for (const row of await routesWhere(tx, ctx, { id: { in: idsOf('route') } })) takeRoute(source, row, next);
  for (let open = openOf(next); open; open = openOf(next)) await take(tx, ctx, source, open, next);
  if (items !== 'all') refuseStrangers(source, all, items);
  source.namesakes = await namesakes(tx, ctx, source);
  return source;
}

/** What rows met so far refer to and nobody has read yet. `asked`: what nothing was found for is asked for once. */
type Wanted = Record<'collections' | 'secrets' | 'clients' | 'slugs' | 'names' | 'asked', Set<string>>;
const nothingWanted = (): Wanted => ({
  collections: new Set(),
  secrets: new Set(),
  clients: new Set(),
  slugs: new Set(),
  names: new Set(),
  asked: new Set(),
});

/** Takes what is still open, and remembers that it was asked for; undefined when nothing is left. */
function openOf(next: Wanted): Omit<Wanted, 'asked'> | undefined {
  const open = (what: Exclude<keyof Wanted, 'asked'>) => {
    const fresh = new Set([...next[what]].filter((one) => !next.asked.has(`${what} ${one}`)));
    for (const one of fresh) next.asked.add(`${what} ${one}`);
    next[what].clear();
    return fresh;
  };
  const found = {
    collections: open('collections'),
    secrets: open('secrets'),
    clients: open('clients'),
    slugs: open('slugs'),
    names: open('names'),
  };
  return Object.values(found).some((set) => set.size > 0) ? found : undefined;
}

async function take(tx: Tx, ctx: Ctx, source: Source, open: Omit<Wanted, 'asked'>, next: Wanted): Promise<void> {
  const { collections, secrets, clients, slugs, names } = open;
  const found = {
    collections: await collectionsWhere(tx, ctx, { OR: [{ id: { in: [...collections] } }, { slug: { in: [...slugs] } }] }),
    secrets: await secretsWhere(tx, ctx, { OR: [{ id: { in: [...secrets] } }, { shortcode_name: { in: [...names] } }] }),
    clients: await clientsWhere(tx, ctx, { id: { in: [...clients] } }),
  };
  for (const row of found.collections) {
    if (source.collections.has(row.id)) continue;
    source.collections.set(row.id, row);
    for (const name of row.expected_environments) source.served.add(name);
    for (const { environment_name, default_client_ids } of row.defaults) {
      source.served.add(environment_name);
      for (const id of default_client_ids) next.clients.add(id);
    }
    for (const { secret_id } of row.variables) if (secret_id) next.secrets.add(secret_id);
  }
  for (const row of found.secrets) {
    source.secrets.set(row.id, row);
    if (row.collection_id) next.collections.add(row.collection_id);
  }
  for (const row of found.clients) {
    source.clients.set(row.id, row);
    if (row.collection_id) next.collections.add(row.collection_id);
  }
}

function takeRoute(source: Source, row: RouteRow, next: Wanted): void {
  const draft = draftOf(row.configs);
  source.routes.set(row.id, row);
  source.drafts.set(row.id, draft);
  if (row.collection_id) next.collections.add(row.collection_id);
  for (const { client_id } of row.assignments) next.clients.add(client_id);
  for (const [name, local] of draft.locals) {
    source.served.add(name);
    for (const id of [local.mtls_certificate_id, local.upstream_ca_certificate_id]) if (id) next.secrets.add(id);
  }
  for (const { reference } of localReferences(draft)) {
    if (reference.kind === 'secret') next.names.add(reference.name);
    if (reference.kind === 'secret_id') next.secrets.add(reference.id);
    if (reference.kind === 'var' && reference.collection !== null) next.slugs.add(reference.collection);
  }
}

/** Missing, foreign and other-space ids have one answer. */
function refuseStrangers(source: Source, environments: readonly EnvironmentRow[], items: readonly Item[]): void {
  const known: Record<Family, (id: string) => boolean> = {
    environment: (id) => environments.some((row) => row.id === id),
    collection: (id) => source.collections.has(id),
    secret: (id) => source.secrets.has(id),
    client: (id) => source.clients.has(id),
    route: (id) => source.routes.has(id),
  };
  const at = items.findIndex(({ type, id }) => !known[type](id));
  if (at >= 0) throw invalid(`items.${at}.id`, `names no ${items[at]?.type} of the space it comes from`);
}

async function everything(tx: Tx, ctx: Ctx): Promise<Item[]> {
  const rows = await tx.$queryRaw<Item[]>`
    select 'environment' as type, id::text from environments where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    union all select 'collection', id::text from collections where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    union all select 'secret', id::text from secrets where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    union all select 'client', id::text from clients where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    union all select 'route', id::text from routes where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    limit ${MOST_ITEMS + 1}`;
  if (rows.length > MOST_ITEMS)
    throw invalid('items', `all of this space is more than ${grouped(MOST_ITEMS)} things: name those that should move`);
  return rows.filter((row) => FAMILIES.includes(row.type));
}

async function namesakes(tx: Tx, ctx: Ctx, source: Source): Promise<Set<string>> {
  const names = [...new Set([...source.clients.values()].map((row) => row.name))];
  const rows = await tx.clients.groupBy({ by: ['name'], where: { ...own(ctx), name: { in: names } }, _count: true });
  return new Set(rows.filter((row) => row._count > 1).map((row) => row.name));
}
