import type { Draft } from './draft.ts';
import { type Found, referencesOf } from './references.ts';

/** What each environment says for itself. */
export const localReferences = (draft: Draft): Found[] => [...draft.locals].flatMap(([name, local]) => referencesOf(name, local));

/** What calls need in each environment, the base's share included; every text is read once, however many inherit it. */
export function effectiveReferences(draft: Draft): Map<string, Found[]> {
  const local = Map.groupBy(localReferences(draft), (found) => found.environment);
  const base = local.get(draft.base) ?? [];
  return new Map(
    [...draft.locals].map(([name, own]) => [
      name,
      name === draft.base ? base : [...(local.get(name) ?? []), ...base.filter(({ field }) => !(field in own))],
    ]),
  );
}
