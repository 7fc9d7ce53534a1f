import { assertUsesSecrets } from '#server/domain/policies/service.ts';
import type { Reference } from '#server/domain/templates/grammar.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type Draft, settingsOf } from './config/draft.ts';
import { effectiveReferences } from './config/draft-references.ts';
import type { Found } from './config/references.ts';

/** Settings of a route, and the collection whose variables they name. */
export type Sender = { collection_id: string | null; draft: Draft };
/** `moved`: the route changes its collection, and its variables are looked up anew. */
export type Rewriting = { collection_id: string | null; before: Draft | null; after: Draft; moved: boolean };

/**
 * A change that lets a route send a secret that it didn't send before in an environment, or sends those of an environment to another target, takes the right
 * to use secrets. Anything else of a route is edited without it. @throws Refusal forbidden, role_denied
 */
export async function assertMaySend(tx: Tx, ctx: Ctx, rewritings: readonly Rewriting[]): Promise<void> {
  const sent = await secretsSent(
    tx,
    ctx,
    rewritings.flatMap(({ collection_id, before, after }) => [
      { collection_id, draft: after },
      { collection_id, draft: before ?? NOTHING },
    ]),
  );
  const asked = new Set<string>();
  for (const [i, { before, after, moved }] of rewritings.entries()) {
    const [is, was] = [sent[2 * i], sent[2 * i + 1]];
    for (const [environment, ids] of is ?? []) {
      const stays =
        before !== null && !moved && settingsOf(before, environment).target_base_url === settingsOf(after, environment).target_base_url;
      // An environment that is new did what the base does until now.
      const known = stays ? (was?.get(environment) ?? was?.get(before.base)) : undefined;
      for (const id of ids) if (!known?.has(id)) asked.add(id);
    }
  }
  await assertUsesSecrets(ctx, asked, 'a route');
}

const NOTHING: Draft = { base: '', locals: new Map() };

/** The secrets that each of them names in each environment, also by a variable. A certificate that is only trusted is none. */
export async function secretsSent(tx: Tx, ctx: Ctx, senders: readonly Sender[]): Promise<Map<string, Set<string>>[]> {
  const named = senders.map(({ draft }) => effectiveReferences(draft));
  const [ids, names, keys] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const of of named)
    for (const found of of.values())
      for (const { reference } of found) {
        if (reference.kind === 'secret_id') ids.add(reference.id);
        if (reference.kind === 'secret') names.add(reference.name);
        if (reference.kind === 'var') keys.add(reference.key);
      }
  const secrets =
    ids.size + names.size === 0
      ? []
      : await tx.secrets.findMany({
          where: { ...own(ctx), OR: [{ id: { in: [...ids] } }, { shortcode_name: { in: [...names] } }] },
          select: { id: true, shortcode_name: true },
        });
  const rows =
    keys.size === 0
      ? []
      : await tx.collection_variables.findMany({
          where: { ...own(ctx), type: 'secret', key: { in: [...keys] } },
          select: { key: true, collection_id: true, secret_id: true, collection: { select: { slug: true } } },
        });
  const known = new Set(secrets.map(({ id }) => id));
  const byName = new Map(secrets.map(({ id, shortcode_name }) => [shortcode_name, id]));
  const inCollection = new Map(rows.map((row) => [`${row.collection_id} ${row.key}`, row.secret_id]));
  const inSlug = new Map(rows.map((row) => [`${row.collection.slug} ${row.key}`, row.secret_id]));
  const idOf = (reference: Reference, collection_id: string | null): string | null | undefined => {
    if (reference.kind === 'secret_id') return known.has(reference.id) ? reference.id : null;
    if (reference.kind === 'secret') return byName.get(reference.name);
    if (reference.kind !== 'var') return null;
    const { collection, key } = reference;
    return collection === null ? inCollection.get(`${collection_id} ${key}`) : inSlug.get(`${collection} ${key}`);
  };
  return named.map((of, i) => {
    const place = senders[i]?.collection_id ?? null;
    const ids = (found: readonly Found[]) =>
      new Set(found.flatMap(({ field, reference }) => (field === 'upstream_ca_certificate_id' ? [] : (idOf(reference, place) ?? []))));
    return new Map([...of].map(([environment, found]) => [environment, ids(found)]));
  });
}
