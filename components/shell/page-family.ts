import type { LucideIcon } from 'lucide-react';
import type { RAIL_GROUPS } from '#server/domain/people/places.shared.ts';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';

/** What a family adds to the dashboard. Every page loads all descriptors: an icon and plain data, no views and no validators. */
export type PageFamily = {
  /** The family's folder under `components`. */
  name: string;
  pages: readonly FamilyPage[];
  /** What the family gives an ID to. */
  resources?: readonly FamilyResource[];
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
  /** The capability that opening the page takes; `below` for the pages under it, where that is more. */
  needs?: Capability;
  below?: Capability;
  /** The page of the documentation about it: `/docs/{docs}`. */
  docs?: string;
  /** Beside its label in the rail: how many things wait for a person. */
  waiting?: 'tool_calls';
  /** Offered as a start page, at this position. */
  landing?: number;
  /** The list keeps views under this name; `share` is the capability that sharing one takes. */
  savedViews?: { name: string; share: Capability };
};

export type FamilyResource = {
  /** Its name in search results and audit entries: `api_key`. */
  type: string;
  /** Its name within a sentence: `API key`. */
  noun: string;
  /** Several of them, and an icon, for what search finds or promotion moves. */
  plural?: string;
  icon?: LucideIcon;
  /** The page that shows one, below the space. */
  path?: (id: string) => string;
  /** Can be promoted and copied: its position among the types that can. */
  promoted?: number;
};

/** What page tests open beside the family's pages: `components/<family>/samples.ts`, which no page loads. */
export type PageSamples = {
  /** Paths below the space. */
  details?: readonly string[];
  /** The body of a `POST /v1/{family}`; `/{family}/{id}` is opened for the result. */
  create?: Record<string, unknown>;
  /** Where that is when the family's name isn't its path: below `/v1`, and the page below the space. */
  paths?: { api: string; page: string };
  /** Makes what takes more calls than one, by `POST /v1{path}`, which answers the `data`, and answers paths below the space. */
  make?: (post: (path: string, body: object) => Promise<{ id: string; request_id?: string }>) => Promise<readonly string[]>;
  /** What of the page of the result is opened besides: `?tab=usage`. */
  views?: readonly string[];
  /** Paths below the space, of what an API key with this key_id brings. */
  ofKey?: (keyId: string) => readonly string[];
  /** Its pages are tested for accessibility in Live too: they say something else there. */
  differsInLive?: boolean;
};
