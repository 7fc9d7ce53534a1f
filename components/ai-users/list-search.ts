import { parseAsInteger, parseAsString } from 'nuqs/server';

/** What the address of the list holds; `open` is `new` or the user that is edited. */
export const userSearch = { page: parseAsInteger.withDefault(1), q: parseAsString.withDefault(''), open: parseAsString };
export const userQuery = ({ page, q }: { page: number; q: string }) => ({ page, per_page: 50, ...(q ? { q } : {}) });
