import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

const TABS = ['pending', 'snoozed', 'onboarded', 'dismissed'] as const;
export type Tab = (typeof TABS)[number];

/** What the address of the opportunities holds. `id` shows one alone, in whatever state it is. */
export const opportunitySearch = {
  status: parseAsStringLiteral(TABS).withDefault('pending'),
  q: parseAsString.withDefault(''),
  id: parseAsString,
  page: parseAsInteger.withDefault(1),
};

/** The same on the server and in the browser, so that the prefetched answer is found. */
export const opportunityQuery = ({ status, q, id, page }: { status: Tab; q: string; id: string | null; page: number }) =>
  id === null ? { page, per_page: 24, status, ...(q ? { q } : {}) } : { id };

const STATES = ['uncovered', 'covered', 'ignored'] as const;
export type HostState = (typeof STATES)[number];

/** What the address of the observed hosts holds. */
export const egressSearch = {
  status: parseAsStringLiteral(STATES).withDefault('uncovered'),
  host: parseAsString.withDefault(''),
  page: parseAsInteger.withDefault(1),
  per_page: parseAsInteger.withDefault(20),
};

export const egressQuery = ({ status, host, page, per_page }: { status: HostState; host: string; page: number; per_page: number }) => ({
  ...{ status, page, per_page },
  ...(host ? { host } : {}),
});
