import { confirmOpened, confirmPins } from '#server/domain/secrets/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { entryFor } from '../audit-entries.ts';
import {
  addStep,
  changesBetween,
  collectionNamed,
  type PlanBuilder,
  type Step,
  stepOf,
  targetCollectionId,
  there,
} from '../plan-builder.ts';
import type { SecretRow } from '../rows.ts';

/**
 * Secrets are matched by name. What goes is what is known about a secret; its values, and the day they end, never do: there it is a secret without a
 * value, as one that was made to be filled later (interface rule 30 §5).
 */
export function planSecrets(builder: PlanBuilder): void {
  for (const row of builder.source.secrets.values()) {
    const same = builder.find.theirs.secretFolded.get(row.shortcode_name.toLowerCase());
    const match = same?.shortcode_name === row.shortcode_name ? same : null;
    const changes = match ? changesBetween(settingsOf(builder, match, 'target'), settingsOf(builder, row, 'source')) : [];
    addStep(
      builder,
      stepOf(builder, 'secret', row, match, {
        changes,
        needs: row.collection_id ? [row.collection_id] : [],
        conflict: !match && same ? `${there(builder.to)} has a secret named ${same.name}. Names must differ by more than case.` : undefined,
        version: (match ?? row).environments.map((e) => [e.environment_name, e.value_version > 0]),
      }),
    );
  }
}

const settingsOf = (builder: PlanBuilder, row: SecretRow, side: 'source' | 'target') => {
  const { description, tags, strict_expiry_enforcement, allowed_hosts, rotate_every_days } = row;
  return {
    description,
    tags,
    strict_expiry_enforcement,
    allowed_hosts,
    rotate_every_days,
    collection: collectionNamed(builder, row, side),
  };
};

/** Pins that are widened for secrets whose values are there take what a reveal of them takes. @returns details of the audit entry @throws Refusal as `confirmPins` */
export function confirmPromotedPins(tx: Tx, ctx: Ctx, builder: PlanBuilder, steps: readonly Step[]) {
  const changes = steps.flatMap((step) => {
    const before = step.exists ? builder.target.secrets.find(({ id }) => id === step.there) : undefined;
    const after = builder.source.secrets.get(step.id)?.allowed_hosts as string[] | null | undefined;
    return before && after !== undefined ? [{ before, after }] : [];
  });
  return confirmPins(tx, ctx, changes, { field: 'allowed_hosts', route: builder.to === 'live' ? 'sandbox.promote' : 'sandbox.clone' });
}

export async function applySecrets(tx: Tx, ctx: Ctx, builder: PlanBuilder, steps: readonly Step[], run: string): Promise<AuditEntry[]> {
  const made = steps.filter((step) => !step.exists);
  await tx.secrets.createMany({
    data: made.map((step) => {
      const row = builder.source.secrets.get(step.id) as SecretRow;
      const { name, shortcode_name, secret_type, provider_label, is_escrow, header_name, value_prefix } = row;
      return {
        ...own(ctx),
        ...{ id: step.there, name, shortcode_name, secret_type, provider_label, is_escrow, header_name, value_prefix },
        ...columns(builder, row),
        created_by: ctx.actor.id,
        created_at: ctx.now,
        updated_at: ctx.now,
      };
    }),
  });
  const held = new Map(builder.target.secrets.map(({ id, collection_id }) => [id, collection_id]));
  const leaving = steps.flatMap(({ id, there, exists }) =>
    exists
      ? [{ id: there, from: held.get(there) ?? null, to: targetCollectionId(builder, builder.source.secrets.get(id) as SecretRow) }]
      : [],
  );
  await confirmOpened(tx, ctx, leaving);
  for (const step of steps.filter((one) => one.exists))
    await tx.secrets.update({
      where: { id: step.there, ...own(ctx) },
      data: { ...columns(builder, builder.source.secrets.get(step.id) as SecretRow), updated_at: ctx.now },
      select: { id: true },
    });
  return steps.map((step) => entryFor(step, run));
}

const columns = (builder: PlanBuilder, row: SecretRow) => ({
  description: row.description,
  tags: row.tags,
  strict_expiry_enforcement: row.strict_expiry_enforcement,
  rotate_every_days: row.rotate_every_days,
  allowed_hosts: (row.allowed_hosts as string[] | null) ?? Prisma.DbNull,
  collection_id: targetCollectionId(builder, row),
});
