import type { Action, Family, Resource, ResourceAction } from '#server/kernel/family.ts';

export type SearchableResource = Resource & Required<Pick<Resource, 'search'>>;
type Inspectable = Resource & Required<Pick<Resource, 'inspect'>>;

const resourcesOf = (families: readonly Family[]): Resource[] => families.flatMap(({ resources = [] }) => resources);

/** What search finds. Groups whose best finds are equally good have this order. */
export const searchableResources = (families: readonly Family[]): SearchableResource[] =>
  resourcesOf(families).filter((resource): resource is SearchableResource => resource.search !== undefined);

/** What has an ID but no search document. */
export const inspectableResources = (families: readonly Family[]): Inspectable[] =>
  resourcesOf(families).filter((resource): resource is Inspectable => resource.inspect !== undefined);

/** Actions whose every word begins a word of the text: "cr rou" is Create route. */
export function actionsLike(text: string, families: readonly Family[]): Action[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return families
    .flatMap(({ actions = [] }) => actions)
    .filter(({ title }) => {
      const words = title
        .toLowerCase()
        .replace(/^create/, 'create new add')
        .split(/[\s.]+/);
      return wanted.every((part) => words.some((word) => word.startsWith(part)));
    });
}

/** Actions on one resource that begin as the text does: "rotate key build". */
export const resourceActionsLike = (
  text: string,
  families: readonly Family[],
): { resource: SearchableResource; action: ResourceAction }[] =>
  searchableResources(families).flatMap((resource) =>
    (resource.actions ?? []).filter(({ verb }) => verb.test(text)).map((action) => ({ resource, action })),
  );
