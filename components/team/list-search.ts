import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list of members holds; the page reads it on the server, the view in the browser. */
export const memberSearch = {
  q: parseAsString.withDefault(''),
  role: parseAsStringLiteral(['owner', 'admin', 'editor', 'viewer', 'member']),
  sort: parseAsStringLiteral(['name', 'role', 'joined_at', 'last_active_at']).withDefault('name'),
  order: parseAsStringLiteral(['asc', 'desc']).withDefault('asc'),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

export type MemberSearch = {
  q: string;
  role: 'owner' | 'admin' | 'editor' | 'viewer' | 'member' | null;
  sort: 'name' | 'role' | 'joined_at' | 'last_active_at';
  order: 'asc' | 'desc';
  page: number;
  per_page: number;
};

/** The address of the list as its query. */
export const memberListInput = ({ q, role, ...rest }: MemberSearch) => ({ ...rest, ...(q ? { q } : {}), ...(role ? { role } : {}) });
