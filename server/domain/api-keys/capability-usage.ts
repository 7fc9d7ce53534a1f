import type { Capability } from '#server/kernel/capabilities.ts';
import { type HotCtx, keyBehind } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { sql } from '#server/platform/sql.ts';

const HOUR = 3_600_000;
const MOST_REMEMBERED = 50_000;
const stamped = processState('stamped-uses', () => new Map<string, number>());

/** Notes that a key, or a token minted from it, used these capabilities, each at most once an hour and outside the request's own work; a lost stamp loses nothing. */
export function recordCapabilityUse(ctx: HotCtx, capabilities: readonly Capability[]): void {
  const id = keyBehind(ctx.actor)?.id;
  if (id === undefined) return;
  const now = ctx.now.getTime();
  const fresh = capabilities.filter((capability) => now - (stamped.get(`${id} ${capability}`) ?? 0) >= HOUR);
  if (fresh.length === 0) return;
  if (stamped.size > MOST_REMEMBERED) stamped.clear();
  for (const capability of fresh) stamped.set(`${id} ${capability}`, now);
  void sql()
    .query({
      name: 'note-uses',
      text: `insert into api_key_uses (api_key_id, capability, tenant_id, sandbox, last_used_at) select $1, c, $2, $3, $4 from unnest($5::text[]) c
        on conflict (api_key_id, capability) do update set last_used_at = excluded.last_used_at`,
      values: [id, ctx.tenant_id, ctx.sandbox, ctx.now, fresh],
    })
    .catch(() => {
      for (const capability of fresh) stamped.delete(`${id} ${capability}`);
    });
}
