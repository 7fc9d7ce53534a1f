import { digest } from '#server/crypto/tokens.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '../log.ts';
import { sql } from '../sql.ts';
import { bucketWith, isKept, type Rule, type Standing, windowWith } from './decision.ts';

// What limits of an hour and longer stood at, as this process last heard it, and every second in PostgreSQL: a store that restarts (Redis, the memory of a
// gateway, unlogged tables after a crash) is told it with the next call. Lost is at most what was counted in the last second, and only if all processes that
// counted it end together with the store.

type Entry = {
  standing: Standing | undefined /** Read from PostgreSQL. */;
  known: boolean;
  askAgainAt: number;
  owed: number;
  owedIn: number;
};
type State = {
  /** Those that were counted last are last. */
  entries: Map<string, Entry>;
  /** Keys of what is not written yet. */
  dirty: Set<string>;
  loading: Map<string, Promise<void>>;
  timer: NodeJS.Timeout | undefined;
  flushing: Promise<void>;
  sweepAt: number;
};

const state = processState(
  'kept-rates',
  (): State => ({ entries: new Map(), dirty: new Set(), loading: new Map(), timer: undefined, flushing: Promise.resolve(), sweepAt: 0 }),
);

const FLUSH_MS = 1_000;
const SWEEP_MS = 60_000;
const MOST_AT_ONCE = 1_000;
/** Counters that are remembered. One that goes is read from PostgreSQL when it is met again. */
export const MOST_KEPT = 100_000;
/** How many of the oldest are looked at for one that may go; if none may, as when PostgreSQL is away for long, the oldest goes. */
const LOOKED_AT = 20;
/** A call waits no longer for what was counted before its process began; it is asked for again then. */
const PATIENCE_MS = 250;
const ASK_AGAIN_MS = 1_000;

/** What is remembered of each rule's counter; a promise only for a counter that this process meets for the first time. Never rejects. */
export function seedsOf(rules: readonly Rule[]): readonly (Standing | undefined)[] | Promise<readonly (Standing | undefined)[]> {
  const now = performance.now();
  const unknown = rules.filter((rule) => {
    if (!isKept(rule)) return false;
    const { known, askAgainAt } = entryOf(rule.key);
    return !known && askAgainAt <= now;
  });
  if (unknown.length === 0) return rules.map(remembered);
  return Promise.race([Promise.all(unknown.map(load)), late()]).then(() => rules.map(remembered));
}

/** The store, or this process where it is the store, has counted. */
export function noteStanding({ key }: Pick<Rule, 'key'>, standing: Standing): void {
  const entry = entryOf(key);
  const before = entry.standing;
  // Answers may overtake each other. What lies further back comes of a clock that was set right.
  if (before?.windowMs === standing.windowMs && before.isBucket === standing.isBucket && isOlder(standing, before)) return;
  entry.standing = standing;
  if (!state.dirty.has(key)) {
    state.dirty.add(key);
    state.entries.delete(key);
    state.entries.set(key, entry);
  }
  state.timer ??= setTimeout(() => void flushStandings(), FLUSH_MS).unref();
}

/** A call that was admitted while the store was away: it is told of it later. */
export function owe(rule: Rule, now: number): void {
  const entry = entryOf(rule.key);
  const window = Math.floor(now / rule.windowMs);
  if (entry.owedIn !== window) Object.assign(entry, { owed: 0, owedIn: window });
  entry.owed++;
}

/** Takes what the store must be told of: give it back with `owe` when that fails. */
export function takeOwed(rule: Rule, now: number): number {
  const entry = state.entries.get(rule.key);
  if (entry === undefined || entry.owed === 0) return 0;
  const owed = entry.owedIn === Math.floor(now / rule.windowMs) ? entry.owed : 0;
  entry.owed = 0;
  return owed;
}

export function oweAgain(rule: Rule, owed: number, now: number): void {
  for (let i = 0; i < owed; i++) owe(rule, now);
}

/** What is remembered without asking anybody. */
export const remembered = ({ key }: Pick<Rule, 'key'>): Standing | undefined => state.entries.get(key)?.standing;

function isOlder(one: Standing, than: Standing): boolean {
  if (one.isBucket) return one.at < than.at && than.at - one.at <= 1_000;
  return one.at === than.at ? one.b < than.b : one.at === than.at - 1;
}

function entryOf(key: string): Entry {
  let entry = state.entries.get(key);
  if (!entry) {
    sweep();
    if (state.entries.size >= MOST_KEPT) dropOldest();
    entry = { standing: undefined, known: false, askAgainAt: 0, owed: 0, owedIn: 0 };
    state.entries.set(key, entry);
  }
  return entry;
}

type Row = { window_ms: number; is_bucket: boolean; a: number; b: number; at_ms: number };

async function load(rule: Rule): Promise<void> {
  const { key } = rule;
  let loading = state.loading.get(key);
  if (!loading) {
    loading = sql()
      .query<Row>({
        name: 'kept-rate',
        text: 'select window_ms, is_bucket, a, b, at_ms from kept_rates where key = $1',
        values: [nameOf(key)],
      })
      .then(
        ({ rows: [row] }) => {
          const entry = entryOf(key);
          entry.known = true;
          if (row) entry.standing = withKept(rule, entry.standing, row);
        },
        (error: unknown) => {
          entryOf(key).askAgainAt = performance.now() + ASK_AGAIN_MS;
          log.warn({ err: error }, 'cannot read what a limit stood at; it is counted from here');
        },
      )
      .finally(() => state.loading.delete(key));
    state.loading.set(key, loading);
  }
  await loading;
}

/** What was kept, and what calls that did not wait for it have counted meanwhile: of both whichever leaves less. */
function withKept(rule: Rule, ours: Standing | undefined, row: Row): Standing {
  const kept = { windowMs: row.window_ms, isBucket: row.is_bucket, a: row.a, b: row.b, at: row.at_ms };
  if (ours === undefined) return kept;
  if (ours.windowMs !== rule.windowMs || ours.isBucket !== (rule.burst !== null)) return ours;
  if (ours.isBucket) {
    const bucket = bucketWith(rule, Date.now(), { tokens: ours.a, at: ours.at }, kept);
    return bucket ? { ...ours, a: bucket.tokens, at: bucket.at } : ours;
  }
  const window = windowWith(rule, Date.now(), { index: ours.at, previous: ours.a, current: ours.b }, kept);
  return window ? { ...ours, a: window.previous, b: window.current, at: window.index } : ours;
}

function late(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref());
}

/** Writes what was counted so far. Never rejects: what can't be written now is written with the next. For an orderly stop, and for tests. */
export function flushStandings(): Promise<void> {
  clearTimeout(state.timer);
  state.timer = undefined;
  state.flushing = state.flushing.then(flush);
  return state.flushing;
}

async function flush(): Promise<void> {
  const dirty = [...state.dirty];
  for (let i = 0; i < dirty.length; i += MOST_AT_ONCE) {
    const keys = dirty.slice(i, i + MOST_AT_ONCE);
    // In one order, so that two processes never wait for each other in a circle.
    const part = keys
      .map((key) => ({ key: nameOf(key), standing: state.entries.get(key)?.standing }))
      .filter((one): one is { key: string; standing: Standing } => one.standing !== undefined)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const key of keys) state.dirty.delete(key);
    const column = <T>(of: (standing: Standing) => T): T[] => part.map(({ standing }) => of(standing));
    try {
      await sql().query({
        name: 'keep-rates',
        text: KEEP,
        values: [
          part.map(({ key }) => key),
          column((s) => s.windowMs),
          column((s) => s.isBucket),
          column((s) => s.a),
          column((s) => s.b),
          column((s) => s.at),
          column((s) => new Date(endOf(s))),
        ],
      });
    } catch (error) {
      for (const key of keys) if (state.entries.has(key)) state.dirty.add(key);
      log.warn({ err: error, limits: dirty.length }, 'cannot keep what limits stand at; trying again');
      state.timer ??= setTimeout(() => void flushStandings(), FLUSH_MS).unref();
      return;
    }
  }
}

// Of two processes that count with one store, the one that heard later is right.
const KEEP = `insert into kept_rates as k (key, window_ms, is_bucket, a, b, at_ms, expires_at)
  select * from unnest($1::text[], $2::float8[], $3::boolean[], $4::float8[], $5::float8[], $6::float8[], $7::timestamptz[])
  on conflict (key) do update set window_ms = excluded.window_ms, is_bucket = excluded.is_bucket, a = excluded.a, b = excluded.b, at_ms = excluded.at_ms,
    expires_at = excluded.expires_at
  where (k.window_ms, k.is_bucket) is distinct from (excluded.window_ms, excluded.is_bucket) or k.expires_at < now()
    or (excluded.is_bucket and k.at_ms <= excluded.at_ms)
    or (not excluded.is_bucket and (k.at_ms < excluded.at_ms or (k.at_ms = excluded.at_ms and k.b <= excluded.b)))`;

/** When it no longer weighs on any decision. */
const endOf = ({ windowMs, isBucket, at }: Standing): number => (isBucket ? at + 2 * windowMs : (at + 2) * windowMs);

/** Keys of counters per caller have addresses in them. */
const nameOf = (key: string): string => digest(key).toString('base64url');

function sweep(): void {
  const now = Date.now();
  if (now < state.sweepAt) return;
  state.sweepAt = now + SWEEP_MS;
  for (const [key, entry] of state.entries)
    if (mayGo(key, entry) && (!entry.standing || endOf(entry.standing) < now)) state.entries.delete(key);
}

/** Whether nothing is lost with it. */
const mayGo = (key: string, { owed }: Entry): boolean => owed === 0 && !state.dirty.has(key) && !state.loading.has(key);

function dropOldest(): void {
  let oldest: string | undefined;
  let looked = 0;
  for (const [key, entry] of state.entries) {
    oldest ??= key;
    if (mayGo(key, entry)) {
      oldest = key;
      break;
    }
    if (++looked === LOOKED_AT) break;
  }
  if (oldest === undefined) return;
  state.entries.delete(oldest);
  state.dirty.delete(oldest);
}
