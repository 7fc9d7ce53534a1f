import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { windowCounter } from './window-counter.ts';

const PER_MINUTE = 60;

/**
 * Counts a test of `kind` that a person makes from the dashboard. Tests are not counted against the month, so what calls faster than hands do is no test.
 * @throws Refusal rate_limited, which says what to call `instead`
 */
export async function limitTests(ctx: Ctx, kind: string, { what, instead }: { what: string; instead: string }): Promise<void> {
  const now = ctx.now.getTime();
  const made = await windowCounter()(`${kind}:${ctx.tenant_id}:${ctx.actor.id}`, Math.floor(now / 60_000), 60);
  if (made > PER_MINUTE)
    throw new Refusal(
      'rate_limited',
      `Rate limit exceeded: ${PER_MINUTE} ${what} per minute. Programs should call ${instead} with a key.`,
      {
        retryAfter: Math.max(1, Math.ceil((60_000 - (now % 60_000)) / 1000)),
      },
    );
}
