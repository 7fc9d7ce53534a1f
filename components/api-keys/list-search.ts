import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list of keys holds; the page reads it on the server, the view in the browser. */
export const keySearch = {
  show: parseAsStringLiteral(['active', 'ended', 'all']).withDefault('active'),
  kind: parseAsStringLiteral(['standard', 'access_key']),
  open: parseAsStringLiteral(['new']),
  peek: parseAsString,
  sort: parseAsStringLiteral(['created_at', 'name', 'last_used_at']).withDefault('created_at'),
  order: parseAsStringLiteral(['asc', 'desc']).withDefault('desc'),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

export type KeySearch = {
  show: 'active' | 'ended' | 'all';
  kind: 'standard' | 'access_key' | null;
  sort: 'created_at' | 'name' | 'last_used_at';
  order: 'asc' | 'desc';
  page: number;
  per_page: number;
};

/** The address of the list as its query. */
export const keyListInput = ({ show, kind, sort, order, page, per_page }: KeySearch) => ({
  page,
  per_page,
  sort,
  order,
  ...(show === 'all' ? {} : { active: show === 'active' }),
  ...(kind ? { key_type: kind } : {}),
});
