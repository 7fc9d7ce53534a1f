import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { cn } from './cn.ts';

const css = fs.readFileSync('app/globals.css', 'utf8');
/** Names of the theme's tokens of one kind: `2xs` of `--text-2xs`. */
const tokens = (kind: string) =>
  [...css.matchAll(new RegExp(`^  --${kind}-([a-z0-9]+(?:-[a-z0-9]+)*):`, 'gm'))]
    .map(([, name = '']) => name)
    .filter((name) => !(kind === 'shadow' && ['ink', 'edge'].includes(name)));

test('every size, shadow, radius and animation of the theme replaces an earlier one, and no colour', () => {
  for (const [kind, usual, colour] of [
    ['text', 'text-4xl', 'text-ink-3'],
    ['shadow', 'shadow-2xl', 'shadow-ink'],
    ['radius', 'rounded-full', 'bg-subtle'],
    ['animate', 'animate-spin', 'bg-subtle'],
  ] as const) {
    const names = tokens(kind);
    assert.ok(names.length > 1, kind);
    for (const name of names) {
      const utility = `${kind === 'radius' ? 'rounded' : kind}-${name}`;
      assert.equal(cn(usual, utility), utility);
      assert.equal(cn(utility, usual), usual);
      assert.equal(cn(utility, colour), `${utility} ${colour}`);
      assert.equal(cn(colour, utility), `${colour} ${utility}`);
    }
  }
});

test('whole lists of class names keep their order, and one variant does not take away from another', () => {
  assert.equal(cn('flex h-7 px-2 text-xs', 'h-9', { 'px-0': true, hidden: false }), 'flex text-xs h-9 px-0');
  assert.equal(cn('p-1 hover:p-2', 'hover:p-3', 'px-4'), 'p-1 hover:p-3 px-4');
  assert.equal(cn('[&>svg]:size-4 size-4!', '[&>svg]:size-3', 'size-3'), 'size-4! [&>svg]:size-3 size-3');
  assert.equal(cn('py-(--cell-pad) h-(--row-height)', 'py-0 h-8'), 'py-0 h-8');
});
