import { parseAsInteger, parseAsString } from 'nuqs/server';

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const inboundSearch = { page: parseAsInteger.withDefault(1), q: parseAsString.withDefault('') };

export const inboundListInput = ({ page, q }: { page: number; q: string }) => ({ page, per_page: 50, ...(q === '' ? {} : { q }) });
