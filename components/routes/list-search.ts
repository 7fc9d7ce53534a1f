import { parseAsBoolean, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list of routes holds; the page reads it on the server, the view in the browser. */
export const routeSearch = {
  q: parseAsString.withDefault(''),
  collection: parseAsString,
  environment: parseAsString,
  enabled: parseAsBoolean,
  sort: parseAsStringLiteral(['created_at', 'name', 'enabled']).withDefault('created_at'),
  order: parseAsStringLiteral(['asc', 'desc']).withDefault('desc'),
  /** by: `collection` shows the rows by what they are in. */
  by: parseAsStringLiteral(['collection']),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

type Search = {
  q: string;
  collection: string | null;
  environment: string | null;
  enabled: boolean | null;
  sort: 'created_at' | 'name' | 'enabled';
  order: 'asc' | 'desc';
  by: 'collection' | null;
  page: number;
  per_page: number;
};

/** The query of the list for an address: the same on the server and in the browser, so that the prefetched answer is found. */
export const routeListInput = ({ q, collection, environment, enabled, sort, order, by, page, per_page }: Search) => ({
  page,
  per_page: by ? 100 : per_page,
  sort,
  order,
  ...(q ? { q } : {}),
  ...(collection ? { collection_id: collection } : {}),
  ...(environment ? { environment } : {}),
  ...(enabled === null ? {} : { enabled }),
});
