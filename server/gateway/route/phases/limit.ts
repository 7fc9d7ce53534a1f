import type { Rule, Verdict } from '#server/platform/counters.ts';
import { enterWorkspace, limitMonthAnd } from '../../core/limits.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import { circuitRefusal } from '../circuits.ts';
import type { RouteCall } from '../route-call.ts';

const NONE = { circuit: null };

/** Step 10: whether the upstream is worth asking, concurrency, then route and monthly limits together. */
export function limit(call: RouteCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  if (call.test?.dry) return undefined;
  const { circuit } = call.state.config ?? NONE;
  const paused = circuit === null ? undefined : circuitRefusal(call, circuit);
  if (paused) return paused;
  const crowded = enterWorkspace(call, runtime);
  if (crowded) return crowded;
  return limitMonthAnd(call, runtime, rulesOf(call), (verdicts) => judgeRoute(call, verdicts));
}

const NO_RULES: readonly Rule[] = [];

function rulesOf(call: RouteCall): readonly Rule[] {
  const rate = call.state.config?.rateLimit;
  if (!rate) return NO_RULES;
  const rule = { key: rate.key, limit: rate.limit, windowMs: rate.windowMs, burst: rate.burst };
  if (!rate.perCaller) return [rule];
  return [rule, ...countedAs(call).map((caller) => ({ ...rule, key: `${rate.key}:c:${caller}` }))];
}

/** Whom the limit per caller counts: for a call that is made for somebody, everybody it is made for. */
function countedAs({ test, credential: { caller }, client, sourceAddress }: RouteCall): readonly string[] {
  if (test?.userId) return [test.userId];
  return caller?.countsAs ?? [caller?.id ?? client?.client.id ?? sourceAddress];
}

/** The headers show the tier that refused, else the one with less left. */
function judgeRoute(call: RouteCall, [route, ...callers]: readonly Verdict[]): Refused | undefined {
  if (!route) return undefined;
  const seconds = (call.state.config?.rateLimit?.windowMs ?? 0) / 1000;
  const period = seconds === 1 ? 'second' : `${seconds} seconds`;
  if (!route.admitted) {
    call.routeVerdict = route;
    return refused('route_rate_limit_exceeded', `Route rate limit exceeded: ${route.limit} calls per ${period}.`, {
      retryAfter: route.retryAfter,
    });
  }
  const caller = callers.find(({ admitted }) => !admitted) ?? callers.toSorted((a, b) => a.remaining - b.remaining)[0];
  call.routeVerdict = caller && (!caller.admitted || caller.remaining < route.remaining) ? caller : route;
  if (caller && !caller.admitted)
    return refused('client_rate_limit_exceeded', `Route rate limit exceeded: ${caller.limit} calls per ${period} for each caller.`, {
      retryAfter: caller.retryAfter,
    });
  return undefined;
}
