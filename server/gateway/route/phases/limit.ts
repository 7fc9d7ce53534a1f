import type { Rule, Verdict } from '#server/platform/counters.ts';
import type { Call } from '../../core/call.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';

/** Step 10: concurrency, then route and monthly limits together: if either refuses, neither has counted the call. */
export function limit(call: Call, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  if (call.trial?.dry) return undefined;
  const { tenant } = call.snapshot;
  const counted = !call.snapshot.sandbox && !call.trial;
  const running = runtime.inFlight.get(tenant.id) ?? 0;
  if (running >= runtime.maxInFlight)
    return refused('concurrency_limit_exceeded', `Too many concurrent calls. This workspace is limited to ${runtime.maxInFlight}.`);
  runtime.inFlight.set(tenant.id, running + 1);
  call.inFlight = true;

  let ceiling: Refused | undefined;
  if (counted) {
    const { admitted, monthly } = runtime.monthly.reserve(tenant, call.receivedAt);
    call.monthly = monthly;
    if (!admitted)
      ceiling = refused('plan_limit', `Monthly call limit reached: the ${tenant.plan} plan includes ${monthly?.limit} calls per month.`);
  }
  const rules = rulesOf(call);
  if (rules === null) return ceiling;
  // A rule that admits nobody lets the others be judged without being counted: of two limits that are used up the route's answers.
  const taken = runtime.counters.take(ceiling ? [...rules, { ...NOBODY, key: `m:${tenant.id}` }] : rules, call.receivedAt);
  const judge = (verdicts: readonly Verdict[]) => {
    const refusal = judgeRoute(call, verdicts.slice(0, rules.length));
    if (refusal && !ceiling && counted) {
      runtime.monthly.release(tenant.id, call.receivedAt);
      if (call.monthly) call.monthly = { limit: call.monthly.limit, remaining: call.monthly.remaining + 1 };
    }
    return refusal ?? ceiling;
  };
  return taken instanceof Promise ? taken.then(judge) : judge(taken);
}

const NOBODY = { limit: 0, windowMs: 1_000, burst: null };

function rulesOf(call: Call): Rule[] | null {
  const rate = call.config?.rateLimit;
  if (!rate) return null;
  const rule = { key: rate.key, limit: rate.limit, windowMs: rate.windowMs, burst: rate.burst };
  if (!rate.perCaller) return [rule];
  const caller = call.trial?.userId ?? call.credential.key?.id ?? call.client?.client.id ?? call.sourceAddress;
  return [rule, { ...rule, key: `${rate.key}:c:${caller}` }];
}

/** The headers show the tier that refused, else the one with less left. */
function judgeRoute(call: Call, [route, caller]: readonly Verdict[]): Refused | undefined {
  if (!route) return undefined;
  const seconds = (call.config?.rateLimit?.windowMs ?? 0) / 1000;
  const period = seconds === 1 ? 'second' : `${seconds} seconds`;
  if (!route.admitted) {
    call.routeVerdict = route;
    return refused('route_rate_limit_exceeded', `Route rate limit exceeded: ${route.limit} calls per ${period}.`, {
      retryAfter: route.retryAfter,
    });
  }
  call.routeVerdict = caller && (!caller.admitted || caller.remaining < route.remaining) ? caller : route;
  if (caller && !caller.admitted)
    return refused('client_rate_limit_exceeded', `Route rate limit exceeded: ${caller.limit} calls per ${period} for each caller.`, {
      retryAfter: caller.retryAfter,
    });
  return undefined;
}

export function leave(call: Call, runtime: Runtime): void {
  if (!call.inFlight) return;
  call.inFlight = false;
  const { id } = call.snapshot.tenant;
  const running = (runtime.inFlight.get(id) ?? 1) - 1;
  if (running > 0) runtime.inFlight.set(id, running);
  else runtime.inFlight.delete(id);
}
