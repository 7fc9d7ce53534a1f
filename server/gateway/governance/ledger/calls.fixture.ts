import { costNano } from '#server/ai/prices/cost.ts';
import { noUsage } from '#server/ai/usage/usage.ts';
import { price } from '#server/custody/ai/prices.ts';
import { newId } from '#server/kernel/ids.ts';
import type { FinishedCall } from '../log/entry.ts';
import { flushCalls, journalCalls, recordCall } from '../log/writer.ts';
import { type Reserved, type ReserveInput, reserve } from './ledger.ts';
import { type Caps, NO_CAPS, type PayingSubject } from './subjects.ts';

export const USD = 1_000_000_000n;
export const CENT = 10_000_000n;
export const capped = (caps: Partial<Caps>): Caps => ({ ...NO_CAPS, ...caps });

export type Payers = { tenantId: string; token: string; agent: string; gateway: string };
export const payers = (tenantId: string): Payers => ({ tenantId, token: newId(), agent: newId(), gateway: newId() });

export const subjectsOf = (
  { token, agent, gateway }: Payers,
  caps: Partial<Record<PayingSubject['type'], Partial<Caps>>>,
): PayingSubject[] => [
  { type: 'token', id: token, caps: capped(caps.token ?? {}) },
  { type: 'agent', id: agent, caps: capped(caps.agent ?? {}) },
  { type: 'gateway', id: gateway, caps: capped(caps.gateway ?? {}) },
];

export const input = (who: Payers, subjects: ReserveInput['subjects'], extra: Partial<ReserveInput> = {}): ReserveInput => ({
  tenantId: who.tenantId,
  sandbox: false,
  requestId: newId(),
  subjects,
  estimateNano: 5n * CENT,
  tokens: 1_000,
  now: Date.now(),
  ...extra,
});

/** A call that used 1,000 input and 300 output tokens of claude-sonnet-5: half a cent. */
export function finished(asked: ReserveInput, reserved: Reserved | null, extra: Partial<FinishedCall> = {}): FinishedCall {
  const [token, agent, gateway] = asked.subjects.map(({ id }) => id);
  const usage = { ...noUsage, input_uncached: 1_000, output_text: 300 };
  const [provider, model] = ['anthropic', 'claude-sonnet-5'];
  const found = price(provider, model, asked.now);
  return {
    facts: {
      tenant_id: asked.tenantId,
      sandbox: asked.sandbox,
      request_id: asked.requestId,
      ts: new Date(asked.now).toISOString(),
      plane: 'ai',
      status: 'ok',
      origin: 'upstream',
      token_id: token ?? null,
      agent_id: agent ?? null,
      gateway_id: gateway ?? null,
      provider,
      final_model: model,
      http_status: 200,
    },
    charges: [{ provider, model, usage, nano: found && costNano(usage, found) }],
    subjects: asked.subjects,
    reserved,
    ...extra,
  };
}

// As a process of its own: what a second gateway, or one that is about to die, does.
if (process.argv[2] === 'process') {
  type Job = { mode: string; who: Payers; calls: number; cap: string; journal?: string };
  const { mode, who, calls, cap, journal } = JSON.parse(process.argv[3] ?? '{}') as Job;
  if (journal !== undefined) journalCalls(journal);
  const subjects = subjectsOf(who, { agent: { dailyNano: BigInt(cap) } });
  const say = (text: string) => process.stdout.write(`${text}\n`);
  if (mode === 'race') {
    // Connected before the race begins.
    await reserve(input(who, subjectsOf(who, { gateway: { dailyNano: 0n } })));
    say('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const outcomes = await Promise.all(Array.from({ length: calls }, () => reserve(input(who, subjects))));
    say(JSON.stringify({ admitted: outcomes.filter(({ ok }) => ok).length }));
    process.exit(0);
  }
  for (let n = 0; ; n++) {
    const asked = input(who, subjects);
    const reserved = await reserve(asked);
    say(`reserved ${n}`);
    void recordCall(finished(asked, reserved.ok ? reserved : null));
    say(`recorded ${n}`);
    const writing = flushCalls();
    await new Promise((resolve) => setImmediate(resolve));
    say(`writing ${n}`);
    await writing;
    say(`written ${n}`);
  }
}
