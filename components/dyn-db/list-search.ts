import { parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const connectionSearch = { q: parseAsString.withDefault(''), open: parseAsStringLiteral(['new']) };
