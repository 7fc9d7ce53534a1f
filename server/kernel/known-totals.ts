// Totals that took long to count, remembered for as long as nothing they depend on has changed: each with the version that its list had before it
// was counted. Only who has asked for that version in the present transaction may use one. The memory is this process's own and small.

type Known = { version: bigint; total: number; until: number };

const MOST = 2_000;
/** A database that was set back to an earlier state would draw versions again. */
const KEPT_MS = 10 * 60_000;

const known = new Map<string, Known>();

/** The total and the version it holds for; undefined when nothing is remembered. */
export function recall(key: string, now = Date.now()): Known | undefined {
  const found = known.get(key);
  if (!found) return undefined;
  known.delete(key);
  if (found.until <= now) return undefined;
  // The ones that are asked for stay longest.
  known.set(key, found);
  return found;
}

export function remember(key: string, version: bigint, total: number, now = Date.now()): void {
  known.delete(key);
  known.set(key, { version, total, until: now + KEPT_MS });
  if (known.size <= MOST) return;
  const [oldest] = known.keys();
  if (oldest !== undefined) known.delete(oldest);
}
