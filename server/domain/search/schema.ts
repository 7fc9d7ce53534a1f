import { z } from 'zod';
import { queryInt } from '#server/kernel/fields.ts';

/** What can be found; the order is that of groups whose best finds are equally good. */
export const SEARCH_TYPES = ['route', 'secret', 'client', 'collection', 'environment', 'api_key', 'request'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

const types = () =>
  z
    .union([z.array(z.enum(SEARCH_TYPES)), z.string().transform((text) => text.split(',').filter((word) => word !== ''))])
    .pipe(z.array(z.enum(SEARCH_TYPES)));

export const SearchQuery = z.object({
  /** Text, an id, `req:` and an id, an address or range, or `>` and an action. */
  q: z.string().max(200).default(''),
  /** Finds per type and space. */
  limit: queryInt(1, 20).default(5),
  /** Only these types; comma-separated over HTTP. */
  types: types().optional(),
});

const SearchItem = z.object({
  id: z.uuid(),
  title: z.string(),
  subtitle: z.string().nullable(),
  /** A page of the dashboard. */
  url: z.string(),
  badges: z.array(z.string()),
  /** 1 for the very name, less for words of it, least for words like it. */
  score: z.number(),
  space: z.enum(['live', 'test']),
});

export const SearchAnswer = z.object({
  groups: z.array(z.object({ type: z.enum(SEARCH_TYPES), items: z.array(SearchItem) })),
  actions: z.array(z.object({ id: z.string(), title: z.string(), url: z.string() })),
  took_ms: z.number(),
});
/** Besides what can be found: what has an id and is shown on the page of something else. */
export const INSPECTED_KINDS = [
  ...SEARCH_TYPES,
  'audit_entry',
  'client_credential',
  'secret_version',
  'collection_variable',
  'route_example',
  'workspace',
] as const;
export type InspectedKind = (typeof INSPECTED_KINDS)[number];

/** An id as it stands anywhere: a uuid, `req:` and one, or the beginning that an API key is named by. */
export const InspectQuery = z.object({ id: z.string().trim().min(1).max(100) });
export const Inspected = z.object({
  kind: z.enum(INSPECTED_KINDS),
  id: z.uuid(),
  title: z.string(),
  subtitle: z.string().nullable(),
  /** A page of the dashboard. */
  url: z.string(),
  /** null: it belongs to both. */
  space: z.enum(['live', 'test']).nullable(),
});

export type Found = z.output<typeof SearchItem>;
