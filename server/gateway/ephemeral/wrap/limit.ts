import { env } from '#server/platform/env.ts';
import { enterWorkspace, limitMonthAnd } from '../../core/limits.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** As for every call; besides, one token makes so many calls a second. */
export function limit(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const rule = { key: `wkt:${call.state.token?.id}`, limit: env.WRAP_TOKEN_RPS, windowMs: 1_000, burst: env.WRAP_TOKEN_RPS };
  return (
    enterWorkspace(call, runtime) ??
    limitMonthAnd(call, runtime, [rule], ([verdict]) =>
      !verdict || verdict.admitted
        ? undefined
        : refused('client_rate_limit_exceeded', `Rate limit of this gateway token exceeded: ${env.WRAP_TOKEN_RPS} calls per second.`, {
            retryAfter: verdict.retryAfter,
          }),
    )
  );
}
