import { parseAsBoolean, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list of clients holds; the page reads it on the server, the view in the browser. */
export const clientSearch = {
  open: parseAsString,
  q: parseAsString.withDefault(''),
  type: parseAsStringLiteral(['server', 'user']),
  enabled: parseAsBoolean,
  collection: parseAsString,
  sort: parseAsStringLiteral(['created_at', 'name', 'type', 'ip_address']).withDefault('created_at'),
  order: parseAsStringLiteral(['asc', 'desc']).withDefault('desc'),
  /** by: `collection` shows the rows by what they are in. */
  by: parseAsStringLiteral(['collection']),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

export type ClientSearch = {
  q: string;
  type: 'server' | 'user' | null;
  enabled: boolean | null;
  collection: string | null;
  sort: 'created_at' | 'name' | 'type' | 'ip_address';
  order: 'asc' | 'desc';
  by: 'collection' | null;
  page: number;
  per_page: number;
};

/** The query of the list for an address: the same on the server and in the browser, so that the prefetched answer is found. */
export const clientListInput = ({ q, type, enabled, collection, sort, order, by, page, per_page }: ClientSearch) => ({
  page,
  per_page: by ? 100 : per_page,
  sort,
  order,
  ...(q ? { q } : {}),
  ...(type ? { type } : {}),
  ...(enabled === null ? {} : { enabled }),
  ...(collection ? { collection_id: collection } : {}),
});
