import { parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { KEY_TYPE_NAMES } from '#server/domain/crypto-keys/key-types.shared.ts';

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const keySearch = {
  q: parseAsString.withDefault(''),
  type: parseAsStringLiteral(KEY_TYPE_NAMES),
  mode: parseAsStringLiteral(['cloud-only', 'bundled']),
  managed_by: parseAsStringLiteral(['tenant', 'vault', 'service']),
  open: parseAsStringLiteral(['new']),
};
