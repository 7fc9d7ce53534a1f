import { inputTokens, outputTokens } from '#server/ai/usage/usage.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Reserved } from '../ledger/ledger.ts';
import { type CounterKey, type Line, linesOf, type Subject } from '../ledger/subjects.ts';
import { type CallFacts, type CallRow, type Charge, callRow } from './row.ts';

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

type UsageEvent = Record<string, unknown> & { call_id: string; attempt: number };
type Spend = CounterKey & { call_id: string; attempt: number; cap: string | null; at: readonly number[] };
/** A finished call as the database takes it, and as it is in the journal. */
export type Entry = {
  tenant_id: string;
  sandbox: boolean;
  row: CallRow;
  events: UsageEvent[];
  spend: Spend[];
  reservation: string | null;
  /** External ID of the user to note as seen. */
  seen: string | null;
};

export function entryOf({ facts, charges, subjects, reserved, countedIn, notesUser = false }: FinishedCall): Entry {
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
