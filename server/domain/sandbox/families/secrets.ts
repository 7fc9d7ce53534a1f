import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { entryFor } from '../audit-entries.ts';
import { type Board, changesBetween, collectionNamed, collectionThere, judge, type Step, stepOf, there } from '../plan-builder.ts';
import type { SecretRow } from '../rows.ts';

/**
 * Secrets are matched by name. What goes is what is known about a secret; its values, and the day they end, never do: there it is a secret without a
 * value, as one that was made to be filled later (interface rule 30 §5).
 */
export function planSecrets(board: Board): void {
  for (const row of board.source.secrets.values()) {
    const same = board.find.theirs.secretFolded.get(row.shortcode_name.toLowerCase());
    const match = same?.shortcode_name === row.shortcode_name ? same : null;
    const changes = match ? changesBetween(settingsOf(board, match, 'target'), settingsOf(board, row, 'source')) : [];
    judge(
      board,
      stepOf(board, 'secret', row, match, {
        changes,
        needs: row.collection_id ? [row.collection_id] : [],
        conflict: !match && same ? `${there(board.to)} has a secret named ${same.name}. Names must differ by more than case.` : undefined,
        version: (match ?? row).environments.map((e) => [e.environment_name, e.value_version > 0]),
      }),
    );
  }
}

const settingsOf = (board: Board, row: SecretRow, side: 'source' | 'target') => {
  const { description, tags, strict_expiry_enforcement, allowed_hosts, rotate_every_days } = row;
  return { description, tags, strict_expiry_enforcement, allowed_hosts, rotate_every_days, collection: collectionNamed(board, row, side) };
};

export async function applySecrets(tx: Tx, ctx: Ctx, board: Board, steps: readonly Step[], run: string): Promise<AuditEntry[]> {
  const made = steps.filter((step) => !step.exists);
  await tx.secrets.createMany({
    data: made.map((step) => {
      const row = board.source.secrets.get(step.id) as SecretRow;
      const { name, shortcode_name, secret_type, provider_label, is_escrow } = row;
      return {
        ...own(ctx),
        ...{ id: step.there, name, shortcode_name, secret_type, provider_label, is_escrow },
        ...columns(board, row),
        created_by: ctx.actor.id,
        created_at: ctx.now,
        updated_at: ctx.now,
      };
    }),
  });
  for (const step of steps.filter((one) => one.exists))
    await tx.secrets.update({
      where: { id: step.there, ...own(ctx) },
      data: { ...columns(board, board.source.secrets.get(step.id) as SecretRow), updated_at: ctx.now },
      select: { id: true },
    });
  return steps.map((step) => entryFor(step, run));
}

const columns = (board: Board, row: SecretRow) => ({
  description: row.description,
  tags: row.tags,
  strict_expiry_enforcement: row.strict_expiry_enforcement,
  rotate_every_days: row.rotate_every_days,
  allowed_hosts: (row.allowed_hosts as string[] | null) ?? Prisma.DbNull,
  collection_id: collectionThere(board, row),
});
