import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { ownSql } from '#server/platform/sql.ts';
import { type Alert, raiseAlerts } from '../alerts.ts';
import type { Reserved } from '../ledger/ledger.ts';
import { touchUsers } from '../users.ts';
import { acceptable } from './acceptable.ts';
import { type Entry, entryOf, type FinishedCall } from './entry.ts';
import { type CallJournal, createCallJournal } from './journal.ts';

// The way of a finished call to the database: its log row, its usage events, its spend and the end of its reservation, in one transaction, which knows a call
// that it has. Until then the call is in the journal, from where the next process takes what one that is killed had not written.

/**
 * Logs and settles a call, in the background. Idempotent for a reservation: the second call of one does nothing. Never throws.
 * Counts are those of the call's start, however late it ends.
 * @returns when what the call had reserved is free again, or can't be freed now: at once for a call that reserved nothing
 */
export function recordCall(call: FinishedCall): Promise<void> {
  try {
    const { reserved } = call;
    if (reserved) {
      if (settled.has(reserved)) return NOW;
      settled.add(reserved);
    }
    const entry = entryOf(call);
    state.journal?.add(entry);
    state.waiting.push(entry);
    if (state.waiting.length > MOST_WAITING) dropRefusals();
    const waits = entry.reservation !== null && state.failure === undefined;
    expectFlush(waits || state.waiting.length >= BATCH ? 0 : FLUSH_MS);
    return waits ? freed(entry) : NOW;
  } catch (error) {
    log.error({ err: error, request_id: call.facts.request_id }, 'failed to log a call');
    return NOW;
  }
}

const NOW = Promise.resolve();
/** A database that doesn't answer holds no answer longer than this. */
const LONGEST_WAIT_MS = 5_000;
const written = new WeakMap<Entry, () => void>();

const freed = (entry: Entry): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, LONGEST_WAIT_MS).unref();
    written.set(entry, () => {
      clearTimeout(timer);
      resolve();
    });
  });

const BATCH = 100;
const FLUSH_MS = 50;
const RETRY_MS = 1_000;
const LOOK_MS = 10_000;
/** While the database is away calls that could cost are refused, so what waits is mostly rows of refused ones: beyond this the oldest of those are dropped. */
const MOST_WAITING = 10_000;

type State = {
  waiting: Entry[];
  timer: NodeJS.Timeout | undefined;
  due: number;
  writing: Promise<void> | undefined;
  /** Why the last write left something; undefined when it left nothing. */
  failure: unknown;
  journal: CallJournal<Entry> | undefined;
};
const state = processState(
  'ai-calls',
  (): State => ({ waiting: [], timer: undefined, due: 0, writing: undefined, failure: undefined, journal: undefined }),
);
const settled = processState('ai-calls-settled', () => new WeakSet<Reserved>());

function expectFlush(ms: number): void {
  if (state.failure !== undefined) ms = RETRY_MS;
  const due = performance.now() + ms;
  if (state.timer !== undefined && state.due <= due) return;
  clearTimeout(state.timer);
  state.due = due;
  state.timer = setTimeout(() => void flushCalls(), ms).unref();
}

/** From now on calls are in a journal in this folder before they are answered. @returns ends the looks for what other processes left there */
export function journalCalls(folder: string): () => void {
  state.journal = createCallJournal(folder);
  const look = () => void drainCalls().catch((error: unknown) => log.warn({ err: error }, 'cannot read the journal of AI calls'));
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  look();
  return () => {
    clearInterval(timer);
    state.journal = undefined;
  };
}

/** Writes what processes left in the journal that ended. */
export const drainCalls = async (): Promise<void> => state.journal?.drain(async (calls) => (await writeAll(calls)).length === 0);

/** Writes what was recorded so far; resolves when it is there, or could not be written now. */
export async function flushCalls(): Promise<void> {
  clearTimeout(state.timer);
  state.timer = undefined;
  while (state.writing !== undefined) await state.writing;
  if (state.waiting.length === 0) return;
  state.writing = flush().finally(() => {
    state.writing = undefined;
  });
  await state.writing;
}

/** Calls that are not written yet. */
export const waitingCalls = (): number => state.waiting.length;

async function flush(): Promise<void> {
  const batch = state.waiting;
  state.waiting = [];
  state.journal?.turn();
  const left = await writeAll(batch);
  for (const entry of batch) written.get(entry)?.();
  if (left.length === 0) {
    state.failure = undefined;
    return;
  }
  state.waiting = [...left, ...state.waiting];
  expectFlush(RETRY_MS);
}

/** @returns what must be tried again */
async function writeAll(entries: readonly Entry[]): Promise<Entry[]> {
  const spaces = Map.groupBy(entries, ({ tenant_id, sandbox }) => `${tenant_id}:${sandbox}`);
  return (await Promise.all([...spaces.values()].map(writeSpace))).flat();
}

/** @returns what must be tried again */
async function writeSpace(entries: Entry[]): Promise<Entry[]> {
  for (let at = 0; at < entries.length; at += BATCH) {
    const part = entries.slice(at, at + BATCH);
    try {
      await settle(part);
    } catch (error) {
      if (!isDataFault(error)) {
        state.failure = error;
        log.warn({ err: error, waiting: state.waiting.length + entries.length - at }, 'cannot write calls of the AI gateway; trying again');
        return entries.slice(at);
      }
      const left = await settleEach(part);
      if (left.length > 0) {
        state.journal?.drop(part.slice(0, part.length - left.length));
        return [...left, ...entries.slice(at + part.length)];
      }
    }
    state.journal?.drop(part);
  }
  return [];
}

/** One row that the database refuses must not take along its neighbours, nor its own charge. @returns what must be tried again */
async function settleEach(entries: readonly Entry[]): Promise<readonly Entry[]> {
  for (const [n, entry] of entries.entries()) {
    let refusal: unknown;
    for (const tried of acceptable(entry)) {
      refusal = await settle([tried]).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refusal === undefined) break;
      log.error(
        { err: refusal, request_id: entry.row.request_id, cost_nano: entry.row.cost_nano },
        'the database rejected a call of the AI gateway',
      );
      if (isDataFault(refusal)) continue;
      state.failure = refusal;
      return entries.slice(n);
    }
  }
  return [];
}

async function settle(entries: readonly Entry[]): Promise<void> {
  const [{ tenant_id, sandbox }] = entries as [Entry];
  const { rows } = await ownSql().query<{ due: Alert[] }>({
    name: 'ai-settle',
    text: 'select ai_settle($1, $2, $3, $4, $5, $6) as due',
    values: [
      tenant_id,
      sandbox,
      JSON.stringify(entries.map(({ row }) => row)),
      JSON.stringify(entries.flatMap(({ events }) => events)),
      JSON.stringify(entries.flatMap(({ spend }) => spend)),
      JSON.stringify(entries.flatMap(({ reservation }) => reservation ?? [])),
    ],
  });
  const seen = entries.flatMap((entry) => entry.seen ?? []);
  if (seen.length > 0)
    // What they spent is attributed by their external ID in any case.
    touchUsers({ tenantId: tenant_id, sandbox }, seen, new Date()).catch((error: unknown) =>
      log.warn({ err: error, users: seen.length }, 'cannot note which users were seen'),
    );
  const due = rows[0]?.due ?? [];
  if (due.length > 0) raiseAlerts(due);
}

/** SQLSTATE classes 22 and 23: the row is at fault, not the database. */
const isDataFault = (error: unknown): boolean => /^2[23]/.test(String((error as { code?: unknown } | null)?.code ?? ''));

function dropRefusals(): void {
  const at = state.waiting.findIndex(({ row, reservation }) => row.status === 'refused' && reservation === null);
  if (at < 0) return;
  state.journal?.drop(state.waiting.splice(at, 1));
  log.error({ err: state.failure }, 'rows of refused calls were lost: the database has been away for too long');
}
