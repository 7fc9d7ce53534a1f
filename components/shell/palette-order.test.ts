import assert from 'node:assert/strict';
import test from 'node:test';
import { arrangeGroups, type PaletteGroup, type PaletteItem } from './palette-order.ts';

const item = (label: string, more: Partial<PaletteItem> = {}): PaletteItem => ({ id: label, label, run: () => {}, ...more });
const labels = (groups: readonly PaletteGroup[]) => groups.flatMap((group) => group.items.map(({ label }) => label));
const pages: PaletteGroup = { heading: 'Go to', items: [item('API keys'), item('Routes'), item('Environments')] };
const actions: PaletteGroup = { heading: 'Actions', after: '>', items: [item('Create route', { keywords: ['new'] })] };

test('keeps every group in its order while nothing is typed', () => {
  assert.deepEqual(labels(arrangeGroups([pages, actions], '')), ['API keys', 'Routes', 'Environments', 'Create route']);
});

test('puts a label that starts with the query before one that contains it', () => {
  assert.deepEqual(labels(arrangeGroups([actions, pages], 'rou')), ['Routes', 'Create route']);
  assert.deepEqual(labels(arrangeGroups([pages, actions], 'new')), ['Create route']);
  assert.deepEqual(labels(arrangeGroups([pages], 'nothing like it')), []);
});

test('puts a better server result before the pages that were listed first, whatever its words are', () => {
  const found: PaletteGroup = { heading: 'Routes', items: [item('weak', { rank: 0.6 }), item('payments', { rank: 2 })] };
  assert.deepEqual(labels(arrangeGroups([pages, found], 'rou')), ['payments', 'weak', 'Routes']);
});

test('lists only actions after >, filtered by what follows it', () => {
  assert.deepEqual(labels(arrangeGroups([pages, actions], '>')), ['Create route']);
  assert.deepEqual(labels(arrangeGroups([pages, actions], '> route')), ['Create route']);
  assert.deepEqual(labels(arrangeGroups([pages, actions], '> keys')), []);
});
