import { type Period, periodOf } from '#server/domain/ai-spend/periods.shared.ts';

export type SubjectType = 'token' | 'agent' | 'gateway' | 'policy';
export type Overage = 'block' | 'warn' | 'fallback';

/** What a token, agent or gateway may spend; null: no cap. Amounts in nano-USD. */
export type Caps = {
  readonly dailyNano: bigint | null;
  readonly monthlyNano: bigint | null;
  /** Input and output together. */
  readonly dailyTokens: number | null;
  readonly monthlyTokens: number | null;
  readonly action: Overage;
  /** Percentages of a USD cap at which an alert is given. */
  readonly alertAt?: readonly number[];
};

/** Who pays for a call. Every call names its token, its agent if it has one, and its gateway, also when they have no caps: what they spend is counted. */
export type PayingSubject = { readonly type: 'token' | 'agent' | 'gateway'; readonly id: string; readonly caps: Caps };

/** One group of a limit policy that binds a call. */
export type PolicySubject = {
  readonly type: 'policy';
  /** ID of the policy, and what stands for the group. */
  readonly id: string;
  readonly name: string;
  readonly metric: 'usd' | 'tokens' | 'requests';
  readonly window: Period;
  /** nano-USD for usd, else a count. */
  readonly limit: bigint;
  readonly action: 'block' | 'warn';
};
export type Subject = PayingSubject | PolicySubject;

export const NO_CAPS: Caps = { dailyNano: null, monthlyNano: null, dailyTokens: null, monthlyTokens: null, action: 'block' };
const ALERT_AT = [50, 80, 100] as const;

/** A counter as the database names it: subject type and ID, period and its start. */
export type CounterKey = { t: SubjectType; k: string; p: Period; s: string };

/** One limit of one subject in one period. */
export type Line = {
  readonly key: CounterKey;
  readonly endsAt: number;
  readonly nano: bigint | null;
  readonly tokens: number | null;
  readonly requests: number | null;
  readonly action: Overage;
  readonly alertAt: readonly number[];
  readonly subject: Subject;
};

/** What a call is counted in, in the periods of its start. Lines without a limit are counted and never refuse. */
export function linesOf(subjects: readonly Subject[], startedAt: number): Line[] {
  return subjects.flatMap((subject) => (subject.type === 'policy' ? [policyLine(subject, startedAt)] : payingLines(subject, startedAt)));
}

function payingLines(subject: PayingSubject, startedAt: number): Line[] {
  const { type, id, caps } = subject;
  const line = (period: Period, nano: bigint | null, tokens: number | null): Line => {
    const { start, end } = periodOf(period, startedAt);
    return {
      key: { t: type, k: id, p: period, s: new Date(start).toISOString() },
      endsAt: end,
      nano,
      tokens,
      requests: null,
      action: caps.action,
      alertAt: caps.alertAt ?? ALERT_AT,
      subject,
    };
  };
  return [line('day', caps.dailyNano, caps.dailyTokens), line('month', caps.monthlyNano, caps.monthlyTokens)];
}

function policyLine(subject: PolicySubject, startedAt: number): Line {
  const { start, end } = periodOf(subject.window, startedAt);
  const { metric, limit } = subject;
  return {
    key: { t: 'policy', k: subject.id, p: subject.window, s: new Date(start).toISOString() },
    endsAt: end,
    nano: metric === 'usd' ? limit : null,
    tokens: metric === 'tokens' ? Number(limit) : null,
    requests: metric === 'requests' ? Number(limit) : null,
    action: subject.action,
    alertAt: ALERT_AT,
    subject,
  };
}

export const isLimited = ({ nano, tokens, requests }: Line): boolean => nano !== null || tokens !== null || requests !== null;
