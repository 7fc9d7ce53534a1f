import { parseAsInteger, parseAsString } from 'nuqs/server';

/** What the address of the reveal log holds; the page reads it on the server, the view in the browser. */
export const revealSearch = {
  q: parseAsString.withDefault(''),
  person: parseAsString,
  type: parseAsString,
  resource: parseAsString,
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

export type RevealSearch = {
  q: string;
  person: string | null;
  type: string | null;
  resource: string | null;
  page: number;
  per_page: number;
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What narrows the list and its export alike. */
export const revealFilters = ({ q, person, type, resource }: RevealSearch) => ({
  ...(q ? { q } : {}),
  // An address typed by hand narrows to nobody rather than failing.
  ...(person && UUID.test(person) ? { actor_id: person } : {}),
  ...(type ? { resource_type: type } : {}),
  ...(resource ? { resource_id: resource } : {}),
});

/** The address of the list as its query. */
export const revealListInput = (search: RevealSearch) => ({ page: search.page, per_page: search.per_page, ...revealFilters(search) });
