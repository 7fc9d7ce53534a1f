import { type Draft, effectiveReferences, localReferences } from '#server/domain/routes/transfer/service.ts';
import { type Board, type Step, there } from '../board.ts';
import { type CollectionRow, holdsValue, type RouteRow } from '../rows.ts';

/** What the templates of a route would find in the other space. */
type Found = ReturnType<typeof localReferences>[number];
type Reference = Found['reference'];
type Variable = Extract<Reference, { kind: 'var' }>;
type Secret = Extract<Reference, { kind: 'secret' | 'secret_id' }>;
const isSecret = (reference: Reference): reference is Secret => reference.kind === 'secret' || reference.kind === 'secret_id';

/** Secrets, and those behind variables, that a call would need in an environment and that have no value in it there. */
export function missingValues(board: Board, row: RouteRow, draft: Draft): Step['needs_values'] {
  const missing = new Map<string, { secret: string; environment: string }>();
  const names = new Map<Found, string | undefined>();
  const nameOf = (found: Found): string | undefined => {
    if (!names.has(found)) names.set(found, secretNeeded(board, row, found.reference));
    return names.get(found);
  };
  for (const [environment, references] of effectiveReferences(draft))
    for (const name of new Set(references.map(nameOf))) {
      const held = name === undefined ? undefined : board.find.theirs.secretNamed.get(name);
      if (name !== undefined && !(held && holdsValue(held, environment)))
        missing.set(`${name} ${environment}`, { secret: name, environment });
    }
  return [...missing.values()];
}

const secretNeeded = (board: Board, row: RouteRow, reference: Reference): string | undefined =>
  isSecret(reference)
    ? secretBehind(board, reference)
    : reference.kind === 'var'
      ? variableThere(board, row, reference)?.secret
      : undefined;

/** The first placeholder that would name nothing there, or stand where it must not. `moves`: there the route is in another collection so far. */
export function unresolved(board: Board, row: RouteRow, after: Draft, moves: boolean): string | undefined {
  const mine = board.source.drafts.get(row.id) as Draft;
  for (const { reference, environment, field } of localReferences(after)) {
    // What only the other space has is its own affair, unless it named what the collection it leaves has.
    if (!mine.locals.has(environment) && !(moves && reference.kind === 'var' && reference.collection === null)) continue;
    if (reference.kind === 'var' && !isStuck(board, row, reference)) {
      const name = `{{var:${reference.collection === null ? '' : `${reference.collection}.`}${reference.key}}}`;
      const found = variableThere(board, row, reference);
      if (!found && mine.locals.has(environment))
        return `${name} is not in that collection in ${there(board.to)}. ${isPicked(board, row, reference) ? 'The collection waits for a value: see there' : 'Pick the collection too'}.`;
      if (!found)
        return `Its environment ${environment} in ${there(board.to)} names ${name}, which the collection it would move to has not.`;
      if (field === 'target_base_url' && found.type === 'secret')
        return `${name} is a secret in ${there(board.to)}, which cannot stand in a URL.`;
    }
    if (isSecret(reference) && secretBehind(board, reference) === undefined)
      return `It names a secret that neither space has: ${reference.kind === 'secret' ? reference.name : reference.id}. Mend the route first.`;
  }
  return undefined;
}

/** Ids of all that the route refers to where it comes from. */
export function needsOf({ source, find }: Board, row: RouteRow): string[] {
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

/** The name under which the other space will find it; undefined for what only that space knows, or nobody. */
function secretBehind({ find, there: coming }: Board, reference: Secret): string | undefined {
  if (reference.kind === 'secret') {
    const found = find.mine.secretNamed.get(reference.name) ?? find.theirs.secretNamed.get(reference.name);
    return found?.shortcode_name;
  }
  return find.theirs.secret.get(reference.id)?.shortcode_name ?? coming.get(reference.id)?.name;
}

/** The variable as it will be there, with the secret behind it if one is. */
function variableThere(board: Board, row: RouteRow, reference: Variable): { type: string; secret: string | undefined } | undefined {
  const mine = collectionOf(board, row, reference);
  const step = mine && board.steps.get(mine.id);
  const { theirs } = board.find;
  const coming = step?.action === 'create' || step?.action === 'update' ? mine?.variables.find((v) => v.key === reference.key) : undefined;
  if (coming) return { type: coming.type, secret: board.source.secrets.get(coming.secret_id ?? '')?.shortcode_name };
  const held = theirs.collectionSlugged.get(mine?.slug ?? reference.collection ?? '')?.variables.find((v) => v.key === reference.key);
  return held && { type: held.type, secret: theirs.secret.get(held.secret_id ?? '')?.shortcode_name };
}

const collectionOf = ({ source, find }: Board, row: RouteRow, { collection }: Variable): CollectionRow | undefined =>
  collection === null ? source.collections.get(row.collection_id ?? '') : find.mine.collectionSlugged.get(collection);

/** Then it was held back. */
const isPicked = (board: Board, row: RouteRow, reference: Variable): boolean =>
  board.steps.get(collectionOf(board, row, reference)?.id ?? '')?.picked === true;

/** Then that is what is wrong, and it is said of the collection. */
const isStuck = (board: Board, row: RouteRow, reference: Variable): boolean =>
  board.steps.get(collectionOf(board, row, reference)?.id ?? '')?.action === 'conflict';
