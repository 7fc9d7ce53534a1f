import type { ReactNode } from 'react';
import { inOrder } from '#components/shell/arrangement.ts';
import { HOME_CARDS } from '#server/domain/people/places.shared.ts';

export type HomeCard = (typeof HOME_CARDS)[number];
/** Those that the server draws. */
export type ServedCards = { news: ReactNode; goLive: ReactNode };
/** Where a card stands: over the whole width, in the main column, or beside it. It is moved within its place. */
export type HomeZone = 'top' | 'main' | 'side';

export const cardWords: Record<HomeCard, { label: string; zone: HomeZone }> = {
  figures: { label: 'Metrics', zone: 'top' },
  traffic: { label: 'Calls over time', zone: 'top' },
  attention: { label: 'Needs attention', zone: 'main' },
  errors: { label: 'Errors', zone: 'main' },
  calls: { label: 'Recent requests', zone: 'main' },
  go_live: { label: 'Go live', zone: 'main' },
  busiest: { label: 'Busiest routes', zone: 'main' },
  countries: { label: 'Calls by country', zone: 'main' },
  checklist: { label: 'Getting started', zone: 'side' },
  usage: { label: 'Usage', zone: 'side' },
  changelog: { label: 'What’s new', zone: 'side' },
  activity: { label: 'Recent activity', zone: 'side' },
};

/** The cards of a place in the person's order, also those that are hidden. */
export const allCardsOf = (zone: HomeZone, order: readonly string[]): HomeCard[] =>
  inOrder(
    HOME_CARDS.filter((id) => cardWords[id].zone === zone).map((id) => ({ id })),
    order,
  ).map(({ id }) => id);

/** The cards that a person sees in a place (70 §4.1). */
export const cardsOf = (
  zone: HomeZone,
  { home_order, home_hidden }: { home_order: readonly string[]; home_hidden: readonly string[] },
): HomeCard[] => allCardsOf(zone, home_order).filter((id) => !home_hidden.includes(id));
