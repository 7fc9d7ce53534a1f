import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { ITEM_STATUSES } from '#server/domain/migrations/register.shared.ts';

export const itemSearch = {
  page: parseAsInteger.withDefault(1),
  q: parseAsString.withDefault(''),
  status: parseAsStringLiteral(ITEM_STATUSES),
};
