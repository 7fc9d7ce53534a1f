import { isObject, type JsonObject, textAt } from '#server/ai/json.ts';
import { costNano } from '#server/ai/prices/cost.ts';
import { noUsage, type Usage } from '#server/ai/usage/usage.ts';
import { digest } from '#server/crypto/tokens.ts';
import { price } from '#server/custody/ai/prices.ts';
import { log } from '#server/platform/log.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { type CounterKey, linesOf } from '../../governance/ledger/subjects.ts';
import type { Charge } from '../../governance/log/row.ts';
import type { AiCall } from '../ai-call.ts';
import { payersOf } from './budget.ts';

/** What a background answer was charged with, kept beside its ID until it is asked for and says what it used. */
export type BackgroundCharge = {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** Nano-USD as text; null without a price. */
  readonly nano: string | null;
  /** Start of the call, epoch ms: in its periods it was counted. */
  readonly at: number;
  readonly counters: readonly CounterKey[];
};

/** The note of a call that was just charged with what it had reserved. */
export const backgroundCharge = (call: AiCall, { provider, model, usage, nano }: Charge): BackgroundCharge => ({
  provider,
  model,
  usage,
  nano: nano === null ? null : String(nano),
  at: call.receivedAt,
  counters: (call.state.reserved?.lines ?? linesOf(payersOf(call), call.receivedAt)).map(({ key }) => key),
});

/**
 * Corrects the charge of a background answer once it has ended: by the difference, in the periods of the call that began it, and once however many ask for it
 * at the same time. Without the database it stays as it was reserved, until the next one asks.
 */
export async function settleBackground(call: AiCall, answer: unknown, counted: Usage | undefined): Promise<void> {
  const { agent } = call.state;
  const ended = isObject(answer) ? usageOf(answer, counted) : undefined;
  const id = textAt(answer, 'id');
  if (!agent || ended === undefined || id === undefined) return;
  const place = { tenant_id: call.snapshot.tenant.id, sandbox: call.snapshot.sandbox };
  try {
    const pending = await inOwnTransaction(place, async (client) => {
      const where = 'tenant_id = $1 and sandbox = $2 and agent_id = $3 and hash = $4 and pending is not null';
      const values = [place.tenant_id, place.sandbox, agent.id, digest(id)];
      const { rows } = await client.query<{ pending: BackgroundCharge }>(
        `select pending from ai_stored_objects where ${where} for update`,
        values,
      );
      if (rows.length > 0) await client.query(`update ai_stored_objects set pending = null where ${where}`, values);
      return rows[0]?.pending;
    });
    if (!pending) return;
    const known = price(pending.provider, pending.model, pending.at, call.snapshot.aiPrices);
    const nano = known === null || pending.nano === null ? null : costNano(ended, known) - BigInt(pending.nano);
    call.state.charges.push({ provider: pending.provider, model: pending.model, usage: difference(ended, pending.usage), nano });
    call.state.countedIn = pending.counters;
  } catch (error) {
    log.warn({ err: error, request_id: call.requestId }, 'a background answer could not be settled: it stays charged as reserved');
  }
}

/** What an answer used in the end; undefined while it goes on, for one that was canceled without a count, and for counts that can't be read. */
function usageOf(answer: JsonObject, counted: Usage | undefined): Usage | undefined {
  const status = textAt(answer, 'status');
  if (status !== 'completed' && status !== 'incomplete' && status !== 'failed' && status !== 'cancelled') return undefined;
  if (counted?.unread !== undefined) return undefined;
  // A failed call without a count costs nothing (interface rule 51 §9.3).
  return counted ?? (status === 'failed' ? noUsage : undefined);
}

function difference(now: Usage, before: Usage): Usage {
  const counts = Object.keys(noUsage).filter((name) => name !== 'source') as Exclude<keyof Usage, 'source' | 'tier' | 'image' | 'unread'>[];
  const changed = Object.fromEntries(counts.map((name) => [name, now[name] - (before[name] ?? 0)]));
  return { ...noUsage, ...changed, source: now.source };
}
