import assert from 'node:assert/strict';
import test from 'node:test';
import { ariaKeys, stepOf } from './hotkeys.ts';

const press = (key: string, held: Partial<Record<'metaKey' | 'ctrlKey' | 'altKey' | 'shiftKey', boolean>> = {}) =>
  stepOf({ key, metaKey: false, ctrlKey: false, altKey: false, shiftKey: false, ...held });

test('a key is named the same on every keyboard: Cmd and Ctrl are mod, Shift is named for letters only', () => {
  assert.equal(press('k', { metaKey: true }), 'mod+k');
  assert.equal(press('k', { ctrlKey: true }), 'mod+k');
  assert.equal(press('X', { shiftKey: true }), 'shift+x');
  assert.equal(press('?', { shiftKey: true }), '?');
  assert.equal(press('/'), '/');
  assert.equal(press('Enter', { shiftKey: true }), 'shift+enter');
});

test('screen readers are told keys in the words of ARIA, and nothing of a sequence, which it would read as alternatives', () => {
  assert.equal(ariaKeys('mod+enter'), 'Control+Enter Meta+Enter');
  assert.equal(ariaKeys('mod+k'), 'Control+K Meta+K');
  assert.equal(ariaKeys('shift+x'), 'Shift+X');
  assert.equal(ariaKeys('escape'), 'Escape');
  assert.equal(ariaKeys('?'), '?');
  assert.equal(ariaKeys('g r'), undefined);
});
