import { assertUsesSecrets } from '#server/domain/policies/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type Draft, settingsOf } from './config/draft.ts';
import { referencesOf } from './config/references.ts';

type Place = { collection_id: string | null };
/** What is sent from an environment of a route, by templates that name variables of a collection. */
export type Sender = Place & { draft: Draft; environment: string };

/**
 * A change that lets a route send a secret that it didn't send before in an environment, or sends those of an environment to another target, takes the right
 * to use secrets. Anything else of a route is edited without it. `moved`: its variables are looked up anew.
 * @throws Refusal forbidden, role_denied
 */
export async function assertMaySend(
  tx: Tx,
  ctx: Ctx,
  { collection_id }: Place,
  { before, after, moved }: { before: Draft | null; after: Draft; moved: boolean },
) {
  const asked = new Set<string>();
  for (const environment of after.locals.keys()) {
    const sent = await secretsSent(tx, ctx, [{ collection_id, draft: after, environment }]);
    if (sent.size === 0) continue;
    const known = before && !moved ? await secretsSent(tx, ctx, [{ collection_id, draft: before, environment }]) : new Set<string>();
    const elsewhere = before !== null && settingsOf(before, environment).target_base_url !== settingsOf(after, environment).target_base_url;
    for (const id of sent) if (elsewhere || !known.has(id)) asked.add(id);
  }
  await assertUsesSecrets(ctx, asked, 'a route');
}

/** The secrets that settings of environments name, also by a variable. A certificate that is only trusted is none. */
export async function secretsSent(tx: Tx, ctx: Ctx, senders: readonly Sender[]): Promise<Set<string>> {
  const references = senders.flatMap(({ collection_id, draft, environment }) =>
    referencesOf(environment, settingsOf(draft, environment)).flatMap(({ field, reference }) =>
      field === 'upstream_ca_certificate_id' ? [] : [{ collection_id, ...reference }],
    ),
  );
  const ids = references.flatMap((one) => (one.kind === 'secret_id' ? [one.id] : []));
  const names = references.flatMap((one) => (one.kind === 'secret' ? [one.name] : []));
  const variables = references.flatMap((one) => (one.kind === 'var' ? [one] : []));
  const secrets =
    ids.length + names.length === 0
      ? []
      : await tx.secrets.findMany({
          where: { ...own(ctx), OR: [{ id: { in: ids } }, { shortcode_name: { in: names } }] },
          select: { id: true },
        });
  const rows =
    variables.length === 0
      ? []
      : await tx.collection_variables.findMany({
          where: { ...own(ctx), type: 'secret', key: { in: variables.map(({ key }) => key) } },
          select: { key: true, collection_id: true, secret_id: true, collection: { select: { slug: true } } },
        });
  const behind = rows.filter((row) =>
    variables.some(
      ({ key, collection, collection_id }) =>
        key === row.key && (collection === null ? row.collection_id === collection_id : row.collection.slug === collection),
    ),
  );
  return new Set([...secrets.map(({ id }) => id), ...behind.flatMap(({ secret_id }) => secret_id ?? [])]);
}
