import type { LucideIcon } from 'lucide-react';
import type { RAIL_GROUPS } from '#server/domain/people/places.shared.ts';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';

/** What a family adds to the dashboard. Every page loads all descriptors: an icon and plain data, no views and no validators. */
export type PageFamily = {
  /** The family's folder under `components`. */
  name: string;
  pages: readonly FamilyPage[];
};

/** Where a page's path hangs: under `/{slug}/{live|test}`, under `/{slug}`, or at the top. */
export type PageScope = 'space' | 'workspace' | 'person';

/** A group of the rail. Pages of the person are in the avatar menu and the palette, not in the rail. */
export type PageGroup = 'home' | (typeof RAIL_GROUPS)[number] | 'person';

export type FamilyPage = {
  /** Unique in the dashboard; preferences store it. */
  id: string;
  label: string;
  icon: LucideIcon;
  scope: PageScope;
  path: string;
  group: PageGroup;
  /** Position within the group. */
  order: number;
  /** The shortcut that opens it. */
  keys?: string;
  keywords?: readonly string[];
  /** The capability that opening the page takes; `below` for the pages under it, where that is more. */
  needs?: Capability;
  below?: Capability;
  /** The page of the documentation about it: `/docs/{docs}`. */
  docs?: string;
  /** Offered as a start page, at this position. */
  landing?: number;
};
