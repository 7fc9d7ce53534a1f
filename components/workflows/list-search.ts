import { parseAsBoolean, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { TRIGGER_TYPES } from '#server/domain/workflows/definition.shared.ts';

const SORTS = ['created_at', 'updated_at', 'name'] as const;

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const workflowSearch = {
  page: parseAsInteger.withDefault(1),
  q: parseAsString.withDefault(''),
  enabled: parseAsBoolean,
  trigger_type: parseAsStringLiteral(TRIGGER_TYPES),
  sort: parseAsStringLiteral(SORTS).withDefault('created_at'),
  order: parseAsStringLiteral(['asc', 'desc']).withDefault('desc'),
  open: parseAsString,
};
type Search = {
  page: number;
  q: string;
  enabled: boolean | null;
  trigger_type: (typeof TRIGGER_TYPES)[number] | null;
  sort: (typeof SORTS)[number];
  order: 'asc' | 'desc';
};
export const workflowListInput = ({ page, q, enabled, trigger_type, sort, order }: Search) => ({
  page,
  per_page: 50,
  sort,
  order,
  ...(q === '' ? {} : { q }),
  ...(enabled === null ? {} : { enabled }),
  ...(trigger_type === null ? {} : { trigger_type }),
});
