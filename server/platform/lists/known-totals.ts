import { processState } from '#server/kernel/process-state.ts';

// What took long to count or to find, remembered for as long as nothing it depends on has changed: each with the version that its list had before it was
// counted. Only who has asked for that version in the present transaction may use one. The memory is this process's own and small.

type Known<What> = What & { version: bigint; until: number };

/** A database that was set back to an earlier state would draw versions again. */
const KEPT_MS = 10 * 60_000;

function memory<What extends object>(name: string, most: number) {
  const known = processState(`known-${name}`, () => new Map<string, Known<What>>());
  return {
    recall(key: string, now: number): Known<What> | undefined {
      const found = known.get(key);
      if (!found) return undefined;
      known.delete(key);
      if (found.until <= now) return undefined;
      // The ones that are asked for stay longest.
      known.set(key, found);
      return found;
    },
    remember(key: string, version: bigint, what: What, now: number): void {
      known.delete(key);
      known.set(key, { ...what, version, until: now + KEPT_MS });
      if (known.size <= most) return;
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    },
  };
}

const totals = memory<{ total: number }>('totals', 2_000);
/** Of at most a hundred ids each: a few megabytes. */
const pages = memory<{ ids: readonly string[]; total: number }>('pages', 500);

/** The total and the version it holds for; undefined when nothing is remembered. */
export const recall = (key: string, now = Date.now()) => totals.recall(key, now);
export const remember = (key: string, version: bigint, total: number, now = Date.now()): void =>
  totals.remember(key, version, { total }, now);

/** The ids of a page of a search, with its total and the version both hold for. */
export const recallPage = (key: string, now = Date.now()) => pages.recall(key, now);
export const rememberPage = (key: string, version: bigint, page: { ids: readonly string[]; total: number }, now = Date.now()): void =>
  pages.remember(key, version, page, now);

/** Of at most a thousand entries each. */
const entries = memory<{ seqs: readonly bigint[] }>('entries', 100);

/** What a look-up in the audit log found, and the version it holds for. */
export const recallEntries = (key: string, now = Date.now()) => entries.recall(key, now);
export const rememberEntries = (key: string, version: bigint, seqs: readonly bigint[], now = Date.now()): void =>
  entries.remember(key, version, { seqs }, now);
