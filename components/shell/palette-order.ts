import type { ReactNode } from 'react';

export type PaletteItem = {
  id: string;
  label: string;
  detail?: string | undefined;
  icon?: ReactNode;
  badge?: ReactNode;
  keys?: string | undefined;
  keywords?: readonly string[] | undefined;
  /** The server found it for what was typed, and says how well: it is shown whatever its words are. */
  rank?: number | undefined;
  run: () => void;
};
export type PaletteGroup = {
  heading: string;
  items: readonly PaletteItem[];
  /** Listed after `>` too, or after `?` or `@` only. */
  after?: '>' | '?' | '@';
};

/** The groups to show for a query, the best match first: items within their group, groups by their best item. */
export function arrangeGroups(groups: readonly PaletteGroup[], query: string): PaletteGroup[] {
  const [sigil = ''] = /^[>?@]/.exec(query) ?? [];
  const search = query.slice(sigil.length).trim().toLowerCase();
  const eligible = groups.filter((group) => group.items.length > 0 && (sigil === '' || group.after === sigil));
  if (!search) return eligible;
  return eligible
    .map((group) => {
      const scored = group.items
        .map((item) => ({ item, score: scoreOf(item, search) }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score);
      return { group: { ...group, items: scored.map(({ item }) => item) }, best: scored[0]?.score ?? 0 };
    })
    .filter(({ best }) => best > 0)
    .sort((a, b) => b.best - a.best)
    .map(({ group }) => group);
}

/** The start of the label, then the start of any word, then anywhere; 0 hides the item. A server result keeps the rank it came with. */
function scoreOf({ label, keywords = [], rank }: PaletteItem, search: string): number {
  if (rank !== undefined) return rank;
  const text = [label, ...keywords].join(' ').toLowerCase();
  if (label.toLowerCase().startsWith(search)) return 1;
  if (text.split(/[\s/-]+/).some((word) => word.startsWith(search))) return 0.8;
  return text.includes(search) ? 0.5 : 0;
}
