import type { ListedOperation } from '#server/domain/explorer/schema.ts';

const MOST = 30;

/** Operations of the API whose words, path or id hold all words of a text, those whose summary begins with it first. */
export function searchOperations(operations: readonly ListedOperation[], text: string): readonly ListedOperation[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const start = wanted.join(' ');
  return operations
    .filter((op) => op.public)
    .filter((op) => {
      const held = `${op.method} ${op.path} ${op.summary} ${op.id}`.toLowerCase();
      return wanted.every((word) => held.includes(word));
    })
    .toSorted((a, b) => Number(b.summary.toLowerCase().startsWith(start)) - Number(a.summary.toLowerCase().startsWith(start)))
    .slice(0, MOST);
}
