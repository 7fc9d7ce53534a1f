'use client';

import { useHotkeys } from '#components/ui/hotkeys.ts';

type Keys = {
  readOnly: boolean;
  undo: () => void;
  redo: () => void;
  save: () => void;
  run: () => void;
  add: () => void;
  remove: () => void;
  duplicate: () => void;
  all: () => void;
  leave: () => void;
};

/** The keys of the editor; while it can only be looked at, those that change nothing. */
export function useEditorKeys({ readOnly, undo, redo, save, run, add, remove, duplicate, all, leave }: Keys): void {
  const group = 'Editor';
  useHotkeys([
    { keys: 'mod+enter', label: 'Run', group, run, everywhere: true },
    { keys: 'mod+a', label: 'Select every step', group, run: all },
    { keys: 'escape', label: 'Close the settings of a step', group, run: leave },
    ...(readOnly
      ? []
      : [
          { keys: '/', label: 'Add a step', group, run: add },
          { keys: 'mod+s', label: 'Save the draft now', group, run: save, everywhere: true },
          { keys: 'mod+z', label: 'Undo', group, run: undo },
          { keys: 'mod+shift+z', label: 'Redo', group, run: redo },
          { keys: 'mod+y', run: redo },
          { keys: 'mod+d', label: 'Duplicate', group, run: duplicate },
          { keys: 'delete', label: 'Delete', group, run: remove },
          { keys: 'backspace', run: remove },
        ]),
  ]);
}
