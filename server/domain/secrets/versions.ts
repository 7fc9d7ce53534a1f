import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { SecretVersions } from './schema.ts';
import { secretById } from './store.ts';
import { KEPT_MS } from './values.ts';

/** What one page of history holds; a secret that turns hourly has thousands. */
const MOST = 100;
const WRITTEN = { create: 'created', rotate: 'set', restore: 'restored' } as const;

/** When each value was written, by whom, and how long the last one can still be put back. Never a value, nor its length. */
export function secretVersions(ctx: Ctx, input: { id: string }): Promise<z.input<typeof SecretVersions>> {
  return read(ctx, async (tx) => {
    const secret = await secretById(tx, ctx, input.id);
    const rows = await tx.secret_values.findMany({
      where: { ...own(ctx), environment: { secret_id: secret.id } },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: MOST + 1,
      select: {
        value_version: true,
        created_at: true,
        superseded_at: true,
        wiped_at: true,
        environment: { select: { environment_name: true } },
      },
    });
    const shown = rows.slice(0, MOST);
    const writers = ctx.actor.capabilities.has('audit_log:list')
      ? await writersOf(tx, ctx, secret.id, shown.at(-1)?.created_at)
      : new Map();
    return {
      more: rows.length > MOST,
      versions: shown.map((row) => {
        const until = row.superseded_at && !row.wiped_at ? new Date(row.superseded_at.getTime() + KEPT_MS) : null;
        return {
          environment: row.environment.environment_name,
          value_version: row.value_version,
          written_at: row.created_at,
          written_by: writers.get(row.created_at.getTime())?.label ?? null,
          how: writers.get(row.created_at.getTime())?.how ?? null,
          current: row.superseded_at === null,
          superseded_at: row.superseded_at,
          restorable_until: until && until > ctx.now ? until : null,
          wiped_at: row.wiped_at,
        };
      }),
    };
  });
}

/** A value and its audit entry carry the same instant: both are the moment of the one call that made them. */
async function writersOf(tx: Tx, ctx: Ctx, secretId: string, since: Date | undefined) {
  const entries = await tx.audit_logs.findMany({
    where: {
      ...own(ctx),
      resource_type: 'secret',
      resource_id: secretId,
      action: { in: Object.keys(WRITTEN) },
      ...(since ? { created_at: { gte: since } } : {}),
    },
    select: { created_at: true, actor_label: true, action: true },
  });
  return new Map(
    entries.map((entry) => [entry.created_at.getTime(), { label: entry.actor_label, how: WRITTEN[entry.action as keyof typeof WRITTEN] }]),
  );
}
