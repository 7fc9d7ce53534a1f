import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const rootSearch = { open: parseAsStringLiteral(['new']) };

export const CERTIFICATE_STATUSES = ['valid', 'expired', 'revoked'] as const;

/** What the address of a root's certificates holds. `peek` is the serial number of the one that is shown beside the list. */
export const certificateSearch = {
  q: parseAsString.withDefault(''),
  status: parseAsStringLiteral(CERTIFICATE_STATUSES),
  role: parseAsString,
  page: parseAsInteger.withDefault(1),
};
