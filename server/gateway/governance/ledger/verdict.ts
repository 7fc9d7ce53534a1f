import { PERIOD_NAMES, type Period } from '#server/domain/ai-spend/periods.shared.ts';
import type { Line, Overage, Subject } from './subjects.ts';

/** A limit that is reached. */
export type FullLimit = {
  readonly subject: Subject;
  readonly scope: Subject['type'];
  readonly period: Period;
  readonly metric: 'usd' | 'tokens' | 'requests';
  /** nano-USD for usd, else a count; `held` is reserved for calls under way. */
  readonly spent: bigint;
  readonly held: bigint;
  readonly limit: bigint;
  readonly action: Overage;
  /** Epoch ms at which the period ends. */
  readonly endsAt: number;
};

export type Refused = {
  readonly ok: false;
  readonly code: 'budget_exceeded' | 'token_cap_exceeded' | 'budget_unavailable';
  readonly description: string;
  /** What members of the refusal say beside its code. */
  readonly extra: { readonly utilization_pct?: number; readonly scope?: string; readonly period?: string };
  /** Whole seconds. */
  readonly retryAfter: number;
  /** What the limit that refused asks for: an agent's `fallback` is the caller's to follow. */
  readonly action: 'block' | 'fallback';
  readonly full: readonly FullLimit[];
};

/** As the database answers: `l` is the position of a line. */
export type Outcome = { refused: boolean; full: { l: number; m: FullLimit['metric']; spent: string; held: string }[] };

export const fullLimits = (lines: readonly Line[], { full }: Outcome): FullLimit[] =>
  full.flatMap(({ l, m, spent, held }) => {
    const line = lines[l];
    if (!line) return [];
    const limit = m === 'usd' ? line.nano : m === 'tokens' ? line.tokens : line.requests;
    const { subject, action, endsAt } = line;
    return [
      {
        subject,
        scope: subject.type,
        period: line.key.p,
        metric: m,
        spent: BigInt(spent),
        held: BigInt(held),
        limit: BigInt(limit ?? 0),
        action,
        endsAt,
      },
    ];
  });

/**
 * The refusal of a call: the first full limit that blocks gives the code. Of those that are spent the one that ends last says when to come back; what is only
 * reserved is free again when the calls in progress end.
 */
export function refusalOf(full: readonly FullLimit[], now: number): Refused {
  const blocking = full.filter(({ action }) => action !== 'warn');
  const [first] = blocking;
  if (!first) throw new Error('nothing blocks this call');
  const spent = blocking.filter(isSpent);
  return {
    ok: false,
    code: first.scope === 'token' || first.metric === 'tokens' ? 'token_cap_exceeded' : 'budget_exceeded',
    description: describe(first),
    extra: { utilization_pct: utilization(first), scope: first.scope, period: PERIOD_NAMES[first.period] },
    retryAfter: spent.length === 0 ? RESERVED_SECONDS : secondsUntil(Math.max(...spent.map((limit) => limit.endsAt)), now),
    // The fallback of an agent doesn't help where its gateway or token is spent too.
    action: blocking.every(({ action }) => action === 'fallback') ? 'fallback' : 'block',
    full: blocking,
  };
}

const isSpent = ({ spent, limit }: FullLimit): boolean => spent >= limit;
/** Calls in progress end at any moment. */
const RESERVED_SECONDS = 1;

export const UNAVAILABLE: Refused = {
  ok: false,
  code: 'budget_unavailable',
  description: "Budgets can't be checked right now, so the call was refused. Try again.",
  extra: {},
  retryAfter: 5,
  action: 'block',
  full: [],
};

/** Whole seconds until an instant, never 0 (interface rule 51 §4.1). */
const secondsUntil = (end: number, now: number): number => Math.max(1, Math.ceil((end - now) / 1_000));

/** Spent of the limit, in percent with three decimals. */
export const utilization = ({ spent, limit }: Pick<FullLimit, 'spent' | 'limit'>): number =>
  limit <= 0n ? 100 : Number((spent * 200_000n + limit) / (limit * 2n)) / 1_000;

const describe = (full: FullLimit): string => {
  const amount = full.metric === 'usd' ? `${usd(full.spent)} of ${usd(full.limit)} USD` : `${full.spent} of ${full.limit} ${full.metric}`;
  const underWay =
    full.held === 0n ? '' : `, and ${full.metric === 'usd' ? `${usd(full.held)} USD` : full.held} reserved for calls in progress`;
  const how = isSpent(full) ? 'is used up' : 'is taken by calls in progress. Repeat the call when they end';
  if (full.subject.type === 'policy') return `The limit "${full.subject.name}" ${how} (${amount}${underWay}).`;
  const period = PERIOD_NAMES[full.period];
  const name = full.metric === 'tokens' ? 'token cap' : 'budget';
  return `${period[0]?.toUpperCase()}${period.slice(1)} ${name} of this ${full.scope} ${how} (${amount}${underWay}).`;
};

/** Nano-USD as dollars with at least two and at most four decimals. */
export function usd(nano: bigint): string {
  const tenThousandths = (nano + 50_000n) / 100_000n;
  const text = `${tenThousandths / 10_000n}.${String(tenThousandths % 10_000n).padStart(4, '0')}`;
  return text.replace(/0{1,2}$/, '');
}
