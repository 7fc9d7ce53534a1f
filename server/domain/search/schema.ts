import { z } from 'zod';
import { queryInt } from '#server/kernel/fields.ts';

const types = () => z.union([z.array(z.string()), z.string().transform((text) => text.split(',').filter((word) => word !== ''))]);

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
  /** `type` is that of a resource that a family declares. */
  groups: z.array(z.object({ type: z.string(), items: z.array(SearchItem) })),
  actions: z.array(z.object({ id: z.string(), title: z.string(), url: z.string() })),
  took_ms: z.number(),
});
/** An id as it stands anywhere: a uuid, `req:` and one, or the beginning that an API key is named by. */
export const InspectQuery = z.object({ id: z.string().trim().min(1).max(100) });
export const Inspected = z.object({
  /** The type of a resource that a family declares, or `workspace`. */
  kind: z.string(),
  id: z.uuid(),
  title: z.string(),
  subtitle: z.string().nullable(),
  /** A page of the dashboard. */
  url: z.string(),
  /** null: it belongs to both. */
  space: z.enum(['live', 'test']).nullable(),
});

export type Found = z.output<typeof SearchItem>;
