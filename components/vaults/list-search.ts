import { parseAsInteger, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const vaultSearch = { page: parseAsInteger.withDefault(1), open: parseAsStringLiteral(['new']) };
export const vaultListInput = (page: number) => ({ page, per_page: 24 });
