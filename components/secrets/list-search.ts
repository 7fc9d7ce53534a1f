import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list of secrets holds; the page reads it on the server, the view in the browser. */
export const secretSearch = {
  view: parseAsStringLiteral(['list', 'matrix', 'collections']).withDefault('list'),
  open: parseAsStringLiteral(['new', 'env']),
  q: parseAsString.withDefault(''),
  collection: parseAsString,
  tag: parseAsString,
  expiring: parseAsInteger,
  sort: parseAsStringLiteral(['name', 'created_at', 'base_environment']).withDefault('name'),
  order: parseAsStringLiteral(['asc', 'desc']).withDefault('asc'),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

export type SecretSearch = {
  view: 'list' | 'matrix' | 'collections';
  q: string;
  collection: string | null;
  tag: string | null;
  expiring: number | null;
  sort: 'name' | 'created_at' | 'base_environment';
  order: 'asc' | 'desc';
  page: number;
  per_page: number;
};

/** The query of the list for an address: the same on the server and in the browser, so that the prefetched answer is found. */
export const secretListInput = ({ view, q, collection, tag, expiring, sort, order, page, per_page }: SecretSearch) => ({
  page,
  per_page: view === 'collections' ? 100 : per_page,
  sort,
  order,
  ...(q ? { q } : {}),
  ...(collection ? { collection_id: collection } : {}),
  ...(tag ? { tag } : {}),
  ...(expiring === null ? {} : { expiring_within_days: Math.min(365, Math.max(1, expiring)) }),
});
