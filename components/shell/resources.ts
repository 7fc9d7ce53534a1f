import { families } from '#components/families.ts';
import type { FamilyResource } from './page-family.ts';

const resources = new Map(families.flatMap((family) => family.resources ?? []).map((resource) => [resource.type, resource]));

/** The types that can be promoted and copied, in the order they are shown. */
export const promotedTypes: readonly string[] = [...resources.values()]
  .filter(({ promoted }) => promoted !== undefined)
  .toSorted((a, b) => (a.promoted ?? 0) - (b.promoted ?? 0))
  .map(({ type }) => type);

/** What a type of search results or audit entries stands for; undefined for one that no family declares. */
export const resourceOf = (type: string): FamilyResource | undefined => resources.get(type);

/** A type within a sentence: `environment configuration` for `environment_config`. */
export const nounOf = (type: string): string => resources.get(type)?.noun ?? type.replaceAll('_', ' ');

/** Several of a type within a sentence: `API keys` for `api_key`. */
export const pluralOf = (type: string): string => resources.get(type)?.plural ?? `${nounOf(type)}s`;
