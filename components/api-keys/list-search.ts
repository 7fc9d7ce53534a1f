import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list of keys holds; the page reads it on the server, the view in the browser. */
export const keySearch = {
  show: parseAsStringLiteral(['active', 'all']).withDefault('active'),
  open: parseAsStringLiteral(['new']),
  peek: parseAsString,
  sort: parseAsStringLiteral(['created_at', 'name', 'last_used_at']).withDefault('created_at'),
  order: parseAsStringLiteral(['asc', 'desc']).withDefault('desc'),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

export type KeySearch = {
  show: 'active' | 'all';
  sort: 'created_at' | 'name' | 'last_used_at';
  order: 'asc' | 'desc';
  page: number;
  per_page: number;
};

export const keyListInput = ({ show, sort, order, page, per_page }: KeySearch) => ({
  page,
  per_page,
  sort,
  order,
  ...(show === 'active' ? { active: true } : {}),
});
