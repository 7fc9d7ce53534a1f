import { delaySeconds } from '../configs.shared.ts';
import { asNumber, LONGEST_LITERAL } from '../expressions/filters.shared.ts';
import { evaluated, evaluatedText, InvalidConfig, type NodeKind } from './node-call.ts';

const LONGEST_MS = 30 * 86_400_000;
const SHORTEST_MS = 1_000;

/** Waits without holding a worker: for a time, or until one. A time that is past already is over at once. */
export const delay: NodeKind = (call) => {
  const { until, amount } = call.config;
  const from = call.now.getTime();
  if (until !== undefined && until !== null && until !== '') {
    const text = evaluatedText(call, until, true);
    const at = new Date(text.length > LONGEST_LITERAL ? Number.NaN : text);
    if (Number.isNaN(at.getTime())) throw new InvalidConfig('until must be a timestamp');
    if (at.getTime() - from > LONGEST_MS) throw new InvalidConfig('until must be within 30 days');
    return waiting(new Date(Math.max(at.getTime(), from)));
  }
  const seconds = delaySeconds({
    ...call.config,
    amount: typeof amount === 'string' ? (asNumber(evaluated(call, amount)) ?? Number.NaN) : amount,
  });
  if (seconds === null || !Number.isFinite(seconds)) throw new InvalidConfig('amount must be a number with a unit');
  const ms = seconds * 1_000;
  if (ms < SHORTEST_MS || ms > LONGEST_MS) throw new InvalidConfig('amount must be a time from 1 second to 30 days');
  return waiting(new Date(from + ms));
};

const waiting = (until: Date) =>
  ({ status: 'waiting', until, input: { until: until.toISOString() }, output: { resumed_at: until.toISOString() } }) as const;
