import { parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const clientSearch = {
  show: parseAsStringLiteral(['own', 'keys', 'revoked', 'all']).withDefault('own'),
  q: parseAsString.withDefault(''),
  open: parseAsStringLiteral(['new']),
};
