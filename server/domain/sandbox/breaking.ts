import { namesUsing, servingRoutesNaming, usersOfVariables } from '#server/domain/collections/service.ts';
import { draftOf, effectiveReferences } from '#server/domain/routes/transfer/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Source } from './gather.ts';
import { type CollectionRow, holdsValue, type RouteRow, routesWhere, type SecretRow } from './rows.ts';

/** A value that calls of a route that is on would lack. */
export type Lack = { secret: string; environment: string; route: string };

/** Of the collections that were picked and are there, those whose variables would break what uses them there. By id in that space. */
export type Breaking = {
  /** A variable that would become a secret while target URLs use it, and who does: a secret cannot stand in a URL (interface rule 10 §7.3). */
  inUrls: Map<string, { key: string; users: string }>;
  /** Values that are not there, of secrets that variables in use would become. */
  lacking: Map<string, Lack[]>;
};

export async function breakingOf(
  tx: Tx,
  ctx: Ctx,
  source: Source,
  theirs: readonly CollectionRow[],
  secrets: readonly SecretRow[],
): Promise<Breaking> {
  const found: Breaking = { inUrls: new Map(), lacking: new Map() };
  for (const mine of source.collections.values()) {
    const match = theirs.find((one) => one.slug === mine.slug);
    if (!match || !source.picked.has(mine.id)) continue;
    const turns = turnsOf(source, mine, match, secrets);
    for (const { key } of turns.filter((turn) => turn.before === undefined)) {
      const users = (await usersOfVariables(tx, ctx, match, key)).filter((user) => user.in_target);
      if (users.length > 0) found.inUrls.set(match.id, { key, users: namesUsing(users) });
    }
    const lacks = await lacksOf(tx, ctx, match, turns);
    if (lacks.length > 0) found.lacking.set(match.id, lacks);
  }
  return found;
}

/** A variable that has a value, or another secret, and becomes this secret. */
type Turn = { key: string; secret: string; after: SecretRow | undefined; before: SecretRow | undefined };

function turnsOf(source: Source, mine: CollectionRow, match: CollectionRow, secrets: readonly SecretRow[]): Turn[] {
  return mine.variables.flatMap((coming): Turn[] => {
    const held = match.variables.find((one) => one.key === coming.key);
    const secret = source.secrets.get(coming.secret_id ?? '')?.shortcode_name;
    if (!held || secret === undefined) return [];
    const before = secrets.find((one) => one.id === held.secret_id);
    if (before?.shortcode_name === secret) return [];
    return [{ key: coming.key, secret, before, after: secrets.find((one) => one.shortcode_name === secret) }];
  });
}

/** Of the first routes that would fail: one is enough to wait. */
async function lacksOf(tx: Tx, ctx: Ctx, collection: CollectionRow, turns: readonly Turn[]): Promise<Lack[]> {
  const keys = turns.map((turn) => turn.key);
  for (let after: string | null = null; keys.length > 0; ) {
    const ids = await servingRoutesNaming(tx, ctx, collection, keys, after);
    const lacks = (await routesWhere(tx, ctx, { id: { in: ids } })).flatMap((route) => lacksOfRoute(route, collection, turns));
    after = ids.at(-1) ?? null;
    if (lacks.length > 0 || after === null) return lacks;
  }
  return [];
}

function lacksOfRoute(route: RouteRow, collection: CollectionRow, turns: readonly Turn[]): Lack[] {
  const named = (key: string, slug: string | null) =>
    (slug === null ? route.collection_id === collection.id : slug === collection.slug) && key;
  return [...effectiveReferences(draftOf(route.configs))].flatMap(([environment, references]) => {
    const used = new Set(references.map(({ reference: r }) => r.kind === 'var' && named(r.key, r.collection)));
    return turns
      .filter(({ key, before, after }) => used.has(key) && !holds(after, environment) && !(before && !holds(before, environment)))
      .map(({ secret }) => ({ secret, environment, route: route.name }));
  });
}

const holds = (secret: SecretRow | undefined, environment: string): boolean => secret !== undefined && holdsValue(secret, environment);
