import { families } from '#components/families.ts';
import type { Space } from '#components/ui/test-band.tsx';
import { RAIL_GROUPS } from '#server/domain/people/places.shared.ts';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';
import type { FamilyPage, PageGroup } from './page-family.ts';

export type NavGroup = { id: string; label?: string; items: readonly FamilyPage[] };

const pages = families.flatMap((family) => family.pages);
const pagesOf = (group: PageGroup) => pages.filter((page) => page.group === group).toSorted((a, b) => a.order - b.order);

const labels: Record<(typeof RAIL_GROUPS)[number], string> = {
  gateway: 'Gateway',
  secrets: 'Secrets',
  data: 'Data protection',
  ai: 'AI gateway',
  automation: 'Automation',
  observe: 'Observe',
  developers: 'Developers',
  settings: 'Settings',
};

/** The pages that the rail and the palette lead to, in groups. */
export const navigation: readonly NavGroup[] = [
  { id: 'home', items: pagesOf('home') },
  ...RAIL_GROUPS.map((id) => ({ id, label: labels[id], items: pagesOf(id) })),
];

/** The person's own pages: in the avatar menu and the palette, not in the rail. */
export const personal: readonly FamilyPage[] = pagesOf('person');

export type Place = { slug: string; space: Space };

/** Where an item leads from a place. */
export function hrefOf(item: Pick<FamilyPage, 'scope' | 'path'>, { slug, space }: Place): string {
  if (item.scope === 'person') return item.path;
  return item.scope === 'workspace' ? `/${slug}${item.path}` : `/${slug}/${space}${item.path}`;
}

/** The item whose page, or a page under it, is open: the nearest, since some pages stand below others. */
export function activeItem(pathname: string, place: Place): FamilyPage | undefined {
  const all = [...navigation.flatMap((group) => group.items), ...personal];
  // Home has nothing below it: every other page of the space would count as its child.
  return all
    .filter((item) => {
      const href = hrefOf(item, place);
      return pathname === href || (item.path !== '' && pathname.startsWith(`${href}/`));
    })
    .toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** What of an open address one must hold, and by what name; undefined when everybody may open it. */
export function neededFor(pathname: string, place: Place): { item: FamilyPage; capability: Capability } | undefined {
  const item = activeItem(pathname, place);
  const capability = item && (pathname === hrefOf(item, place) ? item.needs : (item.below ?? item.needs));
  return item && capability && { item, capability };
}

/** A Viewer, who may only read, is not shown what they may not even read; everybody else sees what there is, locked (70 §3.2). */
export const isHidden = ({ needs }: Pick<FamilyPage, 'needs'>, role: string): boolean =>
  role === 'viewer' && needs !== undefined && /:(?:read|list)$/.test(needs);

/**
 * The same page in the other partition. Ids live in one partition only, so a detail page leads to its list there;
 * a page without a partition leads to that partition's home.
 */
export function hrefInSpace(pathname: string, place: Place, to: Space): string {
  const item = activeItem(pathname, place);
  return item?.scope === 'space' ? hrefOf(item, { ...place, space: to }) : `/${place.slug}/${to}`;
}
