import { parseAsInteger, parseAsString } from 'nuqs/server';

export const collectionSearch = { q: parseAsString.withDefault(''), page: parseAsInteger.withDefault(1) };

/** The query of the grid for an address, the same on both sides. */
export const collectionListInput = ({ q, page }: { q: string; page: number }) => ({ page, per_page: 24, ...(q ? { q } : {}) });
