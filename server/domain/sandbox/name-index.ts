import { draftOf, localReferences } from '#server/domain/routes/transfer/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type CollectionRow, collectionsWhere, type RouteRow, type SecretRow, secretsWhere } from './rows.ts';

/** Secrets and collections of one space under what templates call them. */
export type NameIndex = ReturnType<typeof createNameIndex>;
export const createNameIndex = (collections: readonly CollectionRow[], secrets: readonly SecretRow[]) => ({
  secret: indexBy(secrets, (row) => row.id),
  secretNamed: indexBy(secrets, (row) => row.shortcode_name),
  collection: indexBy(collections, (row) => row.id),
  collectionSlugged: indexBy(collections, (row) => row.slug),
});

export const indexBy = <Row, Key>(rows: Iterable<Row>, key: (row: Row) => Key): Map<Key, Row> =>
  new Map(Array.from(rows, (row) => [key(row), row] as const));

/** All that the configurations of these routes name in their space. */
export async function loadReferenced(tx: Tx, ctx: Ctx, routes: readonly RouteRow[]) {
  const references = routes.flatMap((route) => localReferences(draftOf(route.configs)).map(({ reference }) => reference));
  const slugs = new Set(references.flatMap((r) => (r.kind === 'var' && r.collection !== null ? [r.collection] : [])));
  const names = new Set(references.flatMap((r) => (r.kind === 'secret' ? [r.name] : [])));
  const homes = new Set(routes.flatMap((route) => route.collection_id ?? []));
  const collections = await collectionsWhere(tx, ctx, { OR: [{ id: { in: [...homes] } }, { slug: { in: [...slugs] } }] });
  const ids = new Set([
    ...references.flatMap((r) => (r.kind === 'secret_id' ? [r.id] : [])),
    ...collections.flatMap((row) => row.variables.flatMap((v) => v.secret_id ?? [])),
  ]);
  return { collections, secrets: await secretsWhere(tx, ctx, { OR: [{ id: { in: [...ids] } }, { shortcode_name: { in: [...names] } }] }) };
}
