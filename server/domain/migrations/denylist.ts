import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { drops, type Looser, loosened } from '#server/kernel/loosening.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { deniedOf } from './denying.ts';
import { DEFAULT_PATTERNS, type PatternKind } from './denylist.shared.ts';
import type { PutDenylist } from './schema.ts';

type Stored = { pattern: string; kind: PatternKind; note: string | null; created_by: string | null; created_at: string | null };
const MOST_MATCHING = 500;

/** The patterns of the workspace, which hold in both spaces; the defaults until somebody replaced them. */
export const getDenylist = (ctx: Ctx) => read(ctx, (tx) => denylistOf(tx, ctx));

export async function denylistOf(tx: Tx, ctx: Pick<Ctx, 'tenant_id'>): Promise<{ patterns: Stored[]; default: boolean }> {
  const row = await tx.migration_denylists.findUnique({ where: { tenant_id: ctx.tenant_id } });
  if (row) return { patterns: row.patterns as Stored[], default: false };
  return { patterns: DEFAULT_PATTERNS.map((one) => ({ ...one, created_by: null, created_at: null })), default: true };
}

/**
 * Replaces the patterns. What waits for review and would be denied now is listed, and left to a person to reject.
 * @throws Refusal validation_error for a pattern that can't be read
 */
export const DENYLIST_PROTECTIONS: Looser<{ patterns: string[] }> = { patterns: drops };
const patternOf = ({ kind, pattern }: { kind: string; pattern: string }) => `${kind}:${pattern}`;

export async function putDenylist(ctx: Ctx, { patterns }: z.output<typeof PutDenylist>) {
  // Judged before the transaction, in which nothing may wait for a thread: an item that comes meanwhile isn't listed.
  const waiting = await read(ctx, (tx) =>
    tx.secret_migration_items.findMany({
      where: { ...own(ctx), status: 'pending_review' },
      select: { id: true, migration_id: true, source_name: true, source_ref: true, source_tags: true },
      orderBy: { id: 'asc' },
    }),
  );
  const entries = waiting.map((row) => ({
    name: row.source_name,
    ref: row.source_ref,
    tags: row.source_tags as Record<string, string>,
  }));
  const denied = await deniedOf(patterns, entries, { owner: ctx.tenant_id });
  const matching = waiting.filter((_, i) => denied[i]);
  return mutate(ctx, async (tx) => {
    const before = await denylistOf(tx, ctx);
    const known = new Map(before.patterns.map((one) => [`${one.kind}:${one.pattern}`, one]));
    const stored = patterns.map((one): Stored => {
      const { created_by = ctx.actor.id, created_at = ctx.now.toISOString() } = known.get(`${one.kind}:${one.pattern}`) ?? {};
      return { ...one, created_by, created_at };
    });
    await confirmLoosening(
      tx,
      ctx,
      env.PUBLIC_ADMIN_URL,
      loosened({ patterns: before.patterns.map(patternOf) }, { patterns: stored.map(patternOf) }, DENYLIST_PROTECTIONS),
    );
    const data = { patterns: stored as unknown as Prisma.InputJsonValue, updated_at: ctx.now };
    await tx.migration_denylists.upsert({
      where: { tenant_id: ctx.tenant_id },
      create: { tenant_id: ctx.tenant_id, ...data },
      update: data,
    });
    const text = (list: readonly Stored[]) => list.map(({ kind, pattern }) => `${kind} ${pattern}`);
    return audited(
      {
        patterns: stored,
        default: false,
        matching_items: matching
          .slice(0, MOST_MATCHING)
          .map(({ id, migration_id, source_name }) => ({ migration_id, item_id: id, source_name })),
      },
      {
        action: 'update',
        resource_type: 'migration_denylist',
        resource_id: ctx.tenant_id,
        changes: [{ field: 'patterns', from: text(before.patterns), to: text(stored) }],
        workspace_level: true,
      },
    );
  });
}
