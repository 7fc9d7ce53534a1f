import { type Draft, localReferences } from '#server/domain/routes/transfer/service.ts';
import { type PlanBuilder, targetCollectionId, there } from '../plan-builder.ts';
import type { CollectionRow, RouteRow } from '../rows.ts';
import type { Variable, World } from '../world.ts';

/** The first placeholder that would name nothing there, or stand where it must not. `match`: the route as it is there so far. */
export function unresolved(builder: PlanBuilder, row: RouteRow, match: RouteRow | null, after: Draft, world: World): string | undefined {
  const mine = builder.source.drafts.get(row.id) as Draft;
  const home = targetCollectionId(builder, row);
  const moves = home !== (match?.collection_id ?? null);
  for (const { reference, environment, field } of localReferences(after)) {
    // What only the other space has is its own affair, unless it named what the collection it leaves has.
    if (!mine.locals.has(environment) && !(moves && reference.kind === 'var' && reference.collection === null)) continue;
    if (reference.kind === 'var' && !isStuck(builder, row, reference)) {
      const name = `{{var:${reference.collection === null ? '' : `${reference.collection}.`}${reference.key}}}`;
      const found = world.variable(home, reference);
      if (!found && mine.locals.has(environment))
        return `${name} isn’t in this collection in ${there(builder.to)}. ${isPicked(builder, row, reference) ? 'Resolve the collection’s conflict first' : 'Select the collection too'}.`;
      if (!found) return `Environment ${environment} in ${there(builder.to)} uses ${name}, which isn’t in the new collection.`;
      if (field === 'target_base_url' && found.type === 'secret')
        return `${name} is a secret in ${there(builder.to)}, and secrets can’t be used in URLs.`;
    }
    if ((reference.kind === 'secret' || reference.kind === 'secret_id') && !world.secret(reference))
      return `Uses a secret that doesn’t exist: ${reference.kind === 'secret' ? reference.name : reference.id}. Fix the route first.`;
  }
  return undefined;
}

/** Ids of all that the route refers to where it comes from. */
export function needsOf({ source, find }: PlanBuilder, row: RouteRow): string[] {
  const draft = source.drafts.get(row.id) as Draft;
  const referred = localReferences(draft).flatMap(({ reference: r }) => {
    if (r.kind === 'secret_id') return [r.id];
    const found =
      r.kind === 'secret' ? find.mine.secretNamed.get(r.name) : r.kind === 'var' && find.mine.collectionSlugged.get(r.collection ?? '');
    return found ? [found.id] : [];
  });
  return [
    ...(row.collection_id ? [row.collection_id] : []),
    ...row.assignments.map((one) => one.client_id),
    ...[...draft.locals.keys()].flatMap((name) => source.environments.get(name)?.id ?? []),
    ...referred,
  ];
}

const collectionOf = ({ source, find }: PlanBuilder, row: RouteRow, { collection }: Variable): CollectionRow | undefined =>
  collection === null ? source.collections.get(row.collection_id ?? '') : find.mine.collectionSlugged.get(collection);

/** Then it was held back. */
const isPicked = (builder: PlanBuilder, row: RouteRow, reference: Variable): boolean =>
  builder.steps.get(collectionOf(builder, row, reference)?.id ?? '')?.picked === true;

/** Then that is what is wrong, and it is said of the collection. */
const isStuck = (builder: PlanBuilder, row: RouteRow, reference: Variable): boolean =>
  builder.steps.get(collectionOf(builder, row, reference)?.id ?? '')?.action === 'conflict';
