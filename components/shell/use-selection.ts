import { type KeyboardEvent, useState } from 'react';

/**
 * The selected one of a list of results: always the first, also when later results change which one that is, until the person moves to another.
 * Typing starts over.
 */
export function useSelection(ids: readonly string[], query: string) {
  const [moved, setMoved] = useState<{ id: string; query: string }>();
  const current = moved?.query === query && ids.includes(moved.id) ? moved.id : ids[0];
  const select = (id: string | undefined) => id !== undefined && setMoved({ id, query });
  const onKeyDown = (event: KeyboardEvent, open: (id: string) => void) => {
    // Enter that ends a composition (Japanese, Chinese) belongs to the text.
    if (event.nativeEvent.isComposing || current === undefined) return;
    const at = ids.indexOf(current);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: -1,
      ...(event.ctrlKey ? { n: at + 1, j: at + 1, p: at - 1, k: at - 1 } : {}),
    };
    const next = steps[event.key];
    if (next !== undefined) select(ids.at(next % ids.length));
    else if (event.key === 'Enter') open(current);
    else return;
    event.preventDefault();
  };
  return { current, select, onKeyDown };
}
