import { parseAsBoolean, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { EVENT_TYPE_NAMES } from '#server/domain/events/catalogue.shared.ts';

/** What the address of the list holds; the page reads it on the server, the view in the browser. */
export const webhookSearch = {
  page: parseAsInteger.withDefault(1),
  q: parseAsString.withDefault(''),
  enabled: parseAsBoolean,
  event_type: parseAsStringLiteral(EVENT_TYPE_NAMES),
  open: parseAsStringLiteral(['new']),
  tab: parseAsStringLiteral(['deliveries']),
};
type Search = { page: number; q: string; enabled: boolean | null; event_type: (typeof EVENT_TYPE_NAMES)[number] | null };
export const webhookListInput = ({ page, q, enabled, event_type }: Search) => ({
  page,
  ...(q === '' ? {} : { q }),
  per_page: 50,
  ...(enabled === null ? {} : { enabled }),
  ...(event_type === null ? {} : { event_type }),
});

/** The same for the deliveries of one webhook. */
export const deliverySearch = {
  page: parseAsInteger.withDefault(1),
  success: parseAsBoolean,
  event_type: parseAsString,
  log: parseAsString,
};
