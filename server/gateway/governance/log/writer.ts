import { inputTokens, outputTokens } from '#server/ai/usage/usage.ts';
import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { ownSql } from '#server/platform/sql.ts';
import { type Alert, raiseAlerts } from '../alerts.ts';
import type { Reserved } from '../ledger/ledger.ts';
import { type CounterKey, type Line, linesOf, type Subject } from '../ledger/subjects.ts';
import { touchUsers } from '../users.ts';
import { type CallFacts, type CallRow, type Charge, callRow } from './row.ts';

// The way of a finished call to the database: its log row, its usage events, its spend and the end of its reservation, in one transaction. A process that is
// killed loses what it had not written, and then neither the log nor the spend has it; the sweeper frees its reservation.

export type FinishedCall = {
  readonly facts: CallFacts;
  /** Empty for a call that used nothing, such as a refused one. */
  readonly charges: readonly Charge[];
  /** Who pays: the same that the call was reserved with. */
  readonly subjects: readonly Subject[];
  /** What `reserve` answered, if it was asked and admitted the call. */
  readonly reserved?: Reserved | null;
  /** The counters of an earlier call, whose charge these charges correct: amounts may be negative then. */
  readonly countedIn?: readonly CounterKey[] | null;
  /** Its user becomes a row of the directory when it has none (interface rule 50 §10): where attribution is on. */
  readonly notesUser?: boolean;
};

/**
 * Logs and settles a call, in the background. Idempotent for a reservation: the second call of one does nothing. Never throws, never waits.
 * Counts are those of the call's start, however late it ends.
 */
export function recordCall(call: FinishedCall): void {
  try {
    const { reserved } = call;
    if (reserved) {
      if (settled.has(reserved)) return;
      settled.add(reserved);
    }
    state.waiting.push(entryOf(call));
    if (state.waiting.length > MOST_WAITING) dropRefusals();
    expectFlush(state.waiting.length >= BATCH ? 0 : FLUSH_MS);
  } catch (error) {
    log.error({ err: error, request_id: call.facts.request_id }, 'failed to log a call');
  }
}

type UsageEvent = Record<string, unknown> & { call_id: string; attempt: number };
type Spend = CounterKey & { call_id: string; attempt: number; cap: string | null; at: readonly number[] };
type Entry = {
  tenant_id: string;
  sandbox: boolean;
  row: CallRow;
  events: UsageEvent[];
  spend: Spend[];
  reservation: string | null;
  /** External ID of the user to note as seen. */
  seen: string | null;
};

const BATCH = 100;
const FLUSH_MS = 50;
const RETRY_MS = 1_000;
/** While the database is away calls that could cost are refused, so what waits is mostly rows of refused ones: beyond this the oldest of those are dropped. */
const MOST_WAITING = 10_000;

type State = {
  waiting: Entry[];
  timer: NodeJS.Timeout | undefined;
  due: number;
  writing: Promise<void> | undefined;
  /** Why the last write left something; undefined when it left nothing. */
  failure: unknown;
};
const state = processState('ai-calls', (): State => ({ waiting: [], timer: undefined, due: 0, writing: undefined, failure: undefined }));
const settled = processState('ai-calls-settled', () => new WeakSet<Reserved>());

function entryOf({ facts, charges, subjects, reserved, countedIn, notesUser = false }: FinishedCall): Entry {
  const row = callRow(newId(), facts, charges);
  const corrected = countedIn?.map((key) => ({ key, nano: null, alertAt: [] }));
  const lines: readonly Counted[] = corrected ?? reserved?.lines ?? linesOf(subjects, Date.parse(facts.ts));
  const events = charges.length === 0 ? [eventOf(row, 0, null)] : charges.map((charge, attempt) => eventOf(row, attempt, charge));
  const spend = charges.flatMap((_, attempt) => lines.map((line) => spendOf(row.id, attempt, line)));
  return {
    tenant_id: row.tenant_id,
    sandbox: row.sandbox,
    row,
    events,
    spend,
    reservation: reserved?.id ?? null,
    seen: notesUser ? row.user : null,
  };
}

/** The first event of a call carries what is counted per call. */
function eventOf(row: CallRow, attempt: number, charge: Charge | null): UsageEvent {
  const first = attempt === 0;
  const { request_id, ts, plane, gateway_id, agent_id, mcp_server_id, token_id, user, team, tags } = row;
  const usage = charge?.usage;
  return {
    call_id: row.id,
    attempt,
    request_id,
    ts,
    plane,
    gateway_id,
    agent_id,
    mcp_server_id,
    token_id,
    user,
    team,
    tags,
    provider: charge?.provider ?? row.provider,
    model: charge?.model ?? row.final_model,
    requests: Number(first && row.status !== 'refused'),
    refused_requests: Number(first && row.status === 'refused'),
    errors: Number(first && (row.status === 'upstream_error' || row.status === 'stream_failed')),
    cache_hits: Number(first && (row.cache === 'hit' || row.cache === 'semantic-hit')),
    unpriced_requests: Number(first && !row.priced),
    estimated_requests: Number(first && row.usage?.source === 'estimated'),
    input_tokens: usage ? inputTokens(usage) : 0,
    cached_input_tokens: usage?.input_cached ?? 0,
    cache_write_tokens: usage ? usage.cache_write_5m + usage.cache_write_1h : 0,
    output_tokens: usage ? outputTokens(usage) : 0,
    reasoning_tokens: usage?.reasoning ?? 0,
    cost_nano: String(charge?.nano ?? 0n),
  };
}

type Counted = Pick<Line, 'key' | 'nano' | 'alertAt'>;

const spendOf = (call_id: string, attempt: number, { key, nano, alertAt }: Counted): Spend => ({
  call_id,
  attempt,
  ...key,
  cap: nano === null ? null : String(nano),
  at: nano === null ? [] : alertAt,
});

function expectFlush(ms: number): void {
  if (state.failure !== undefined) ms = RETRY_MS;
  const due = performance.now() + ms;
  if (state.timer !== undefined && state.due <= due) return;
  clearTimeout(state.timer);
  state.due = due;
  state.timer = setTimeout(() => void flushCalls(), ms).unref();
}

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
  const spaces = Map.groupBy(batch, ({ tenant_id, sandbox }) => `${tenant_id}:${sandbox}`);
  const left = (await Promise.all([...spaces.values()].map(writeSpace))).flat();
  if (left.length === 0) {
    state.failure = undefined;
    return;
  }
  state.waiting = [...left, ...state.waiting];
  expectFlush(RETRY_MS);
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
      // One row that the database refuses must not take along its neighbours.
      for (const entry of part)
        await settle([entry]).catch((cause: unknown) =>
          log.error({ err: cause, request_id: entry.row.request_id }, 'the database rejected a call of the AI gateway'),
        );
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
  state.waiting.splice(at, 1);
  log.error({ err: state.failure }, 'rows of refused calls were lost: the database has been away for too long');
}
