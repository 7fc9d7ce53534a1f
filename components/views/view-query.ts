/** Members of an address that are a place in the list or something open over it, not a look at it. */
const PASSING = new Set(['page', 'peek', 'open', 'create', 'cursor', 'from', 'to', 'compare']);

/** What a view keeps of an address: its filters, order and page size, always in one spelling, so that two looks can be compared. */
export function viewQuery(search: string): string {
  const kept = [...new URLSearchParams(search)].filter(([name, value]) => !PASSING.has(name) && value !== '');
  return new URLSearchParams(kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))).toString();
}

/** Whether a list stands as a view describes it. */
export const isShown = (view: { query: string; columns: readonly string[] }, query: string, hidden: ReadonlySet<string>): boolean =>
  viewQuery(view.query) === query && view.columns.length === hidden.size && view.columns.every((id) => hidden.has(id));
