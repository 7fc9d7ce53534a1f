import assert from 'node:assert/strict';
import test from 'node:test';
import { stepOf } from './hotkeys.ts';

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
