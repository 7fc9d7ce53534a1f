import type { Document } from './document.ts';

/** A document with what was done to it, so that it can be undone. */
export type Edits = { past: readonly Document[]; doc: Document; future: readonly Document[]; group: string | undefined };
export type Edit =
  | { do: 'set'; doc: Document; group?: string | undefined }
  | { do: 'undo' }
  | { do: 'redo' }
  | { do: 'replace'; doc: Document };

const DEEPEST = 100;

export const begin = (doc: Document): Edits => ({ past: [], doc, future: [], group: undefined });

/**
 * Changes in a row with the same group are one step back, such as the letters of a word. `replace` is what came from elsewhere: nothing before it
 * can be brought back.
 */
export function edited(edits: Edits, edit: Edit): Edits {
  const { past, doc, future, group } = edits;
  switch (edit.do) {
    case 'set':
      if (edit.doc === doc) return edits;
      if (edit.group !== undefined && edit.group === group) return { past, doc: edit.doc, future: [], group };
      return { past: [...past, doc].slice(-DEEPEST), doc: edit.doc, future: [], group: edit.group };
    case 'undo': {
      const before = past.at(-1);
      return before ? { past: past.slice(0, -1), doc: before, future: [doc, ...future], group: undefined } : edits;
    }
    case 'redo': {
      const [next, ...later] = future;
      return next ? { past: [...past, doc], doc: next, future: later, group: undefined } : edits;
    }
    default:
      return begin(edit.doc);
  }
}
