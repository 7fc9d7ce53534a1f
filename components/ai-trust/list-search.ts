import { parseAsInteger, parseAsString } from 'nuqs/server';

/** What the address of the list holds; `open` is `new` or the binding that is edited. */
export const bindingSearch = { page: parseAsInteger.withDefault(1), open: parseAsString };
export const bindingQuery = ({ page }: { page: number }) => ({ page, per_page: 50 });
