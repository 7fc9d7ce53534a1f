import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

export const TABS = ['credentials', 'tokens', 'try'] as const;

/** What the address of the page holds. */
export const wrapSearch = {
  tab: parseAsStringLiteral(TABS).withDefault('credentials'),
  page: parseAsInteger.withDefault(1),
  open: parseAsString,
};

/** The same on the server and in the browser, so that the prefetched answer is found. */
export const credentialQuery = ({ page }: { page: number }) => ({ page, per_page: 50 });
