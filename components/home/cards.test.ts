import assert from 'node:assert/strict';
import test from 'node:test';
import { HOME_CARDS } from '#server/domain/people/places.shared.ts';
import { cardsOf } from './cards.ts';

const all = (preferences: { home_order: string[]; home_hidden: string[] }) =>
  (['top', 'main', 'side'] as const).map((zone) => cardsOf(zone, preferences));

test('nobody who arranged nothing misses a card, and every card has one place', () => {
  assert.deepEqual(all({ home_order: [], home_hidden: [] }).flat(), [...HOME_CARDS]);
});

test('hidden cards are gone, moved ones first in their place, and a card that a later release adds is there', () => {
  const [top, main, side] = all({ home_order: ['busiest', 'calls', 'activity'], home_hidden: ['traffic', 'errors'] });
  assert.deepEqual(top, ['figures']);
  assert.deepEqual(main, ['busiest', 'calls', 'attention', 'go_live', 'countries']);
  assert.deepEqual(side, ['activity', 'checklist', 'usage', 'changelog']);
});
