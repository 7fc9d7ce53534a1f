import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

export const TOKEN_STATES = ['minted', 'consumed', 'expired', 'burned', 'revoked'] as const;
export type TokenState = (typeof TOKEN_STATES)[number];

/** What the address of the list holds. */
export const tokenSearch = { page: parseAsInteger.withDefault(1), open: parseAsString, state: parseAsStringLiteral(TOKEN_STATES) };

/** The same on the server and in the browser, so that the prefetched answer is found. */
export const tokenQuery = ({ page, state }: { page: number; state: TokenState | null }) => ({
  page,
  per_page: 100,
  ...(state && { state }),
});
