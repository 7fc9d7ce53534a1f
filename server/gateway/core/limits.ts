import type { Rule, Verdict } from '#server/platform/counters.ts';
import type { Call } from './call.ts';
import { networkOf } from './client-address.ts';
import { type Refused, refused } from './refusal.ts';
import type { Runtime } from './runtime.ts';

// The limits that hold on every plane. Phases call them where their plane's order wants them.

/** Takes one of the workspace's places for calls under way; the pipeline gives it back. */
export function enterWorkspace(call: Call, { inFlight, maxInFlight }: Runtime): Refused | undefined {
  const { id } = call.snapshot.tenant;
  const running = inFlight.get(id) ?? 0;
  if (running >= maxInFlight)
    return refused('concurrency_limit_exceeded', `Too many concurrent calls. This workspace is limited to ${maxInFlight}.`);
  inFlight.set(id, running + 1);
  call.inFlight = true;
  return undefined;
}

export function leaveWorkspace(call: Call, { inFlight }: Runtime): void {
  if (!call.inFlight) return;
  call.inFlight = false;
  const { id } = call.snapshot.tenant;
  const running = (inFlight.get(id) ?? 1) - 1;
  if (running > 0) inFlight.set(id, running);
  else inFlight.delete(id);
}

/** The workspace's calls per minute: counts every admitted call, before any other work is done for it. */
export function limitWorkspaceRate(call: Call, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { tenant, space } = call.snapshot;
  if (tenant.rps === null) return undefined;
  const perMinute = tenant.rps * 60;
  const taken = runtime.counters.take(
    [{ key: `t:${tenant.id}:${space}`, limit: perMinute, windowMs: 60_000, burst: perMinute }],
    call.receivedAt,
  );
  const judge = ([verdict]: Awaited<typeof taken>): Refused | undefined => {
    if (!verdict) return undefined;
    call.tenantVerdict = verdict;
    return verdict.admitted
      ? undefined
      : refused('tenant_rate_limit_exceeded', `Workspace rate limit exceeded: ${perMinute} calls per minute.`, {
          retryAfter: verdict.retryAfter,
        });
  };
  return taken instanceof Promise ? taken.then(judge) : judge(taken);
}

/**
 * The plan's calls of the month together with a plane's own rules, whose verdicts `judge` reads: if either refuses, neither has counted the call,
 * and of two that refuse the plane's answers. Test space and test requests are not counted against the month.
 */
export function limitMonthAnd(
  call: Call,
  runtime: Runtime,
  rules: readonly Rule[],
  judge: (verdicts: readonly Verdict[]) => Refused | undefined,
): Refused | undefined | Promise<Refused | undefined> {
  const { tenant } = call.snapshot;
  const counted = !call.snapshot.sandbox && !call.test;
  let ceiling: Refused | undefined;
  if (counted) {
    const { admitted, monthly } = runtime.monthly.reserve(tenant, call.receivedAt);
    call.monthly = monthly;
    if (!admitted)
      ceiling = refused('plan_limit', `Monthly call limit reached: the ${tenant.plan} plan includes ${monthly?.limit} calls per month.`);
  }
  if (rules.length === 0) return ceiling;
  // With a rule that admits no call, the others are checked but not counted.
  const taken = runtime.counters.take(ceiling ? [...rules, { ...NOBODY, key: `m:${tenant.id}` }] : rules, call.receivedAt);
  const settle = (verdicts: readonly Verdict[]) => {
    const refusal = judge(verdicts.slice(0, rules.length));
    if (refusal && !ceiling && counted) {
      runtime.monthly.release(tenant.id, call.receivedAt);
      if (call.monthly) call.monthly = { limit: call.monthly.limit, remaining: call.monthly.remaining + 1 };
    }
    return refusal ?? ceiling;
  };
  return taken instanceof Promise ? taken.then(settle) : settle(taken);
}

const NOBODY = { limit: 0, windowMs: 1_000, burst: null };

/** Thirty failed authentications a minute from one network to one workspace; then the network waits. */
export function limitFailures(call: Call, runtime: Runtime): Refused | undefined {
  const rule = { key: `${call.snapshot.tenant.id} ${networkOf(call.sourceAddress)}`, limit: 30, windowMs: 60_000, burst: null };
  const failures = runtime.failures.take([rule], call.receivedAt)[0];
  if (!failures || failures.admitted) return undefined;
  return refused('auth_throttled', 'Too many failed authentication attempts from this address. Try again later.', {
    retryAfter: failures.retryAfter,
  });
}
