import { admissionsOf, bumpRoutesOf, CLIENT_PROTECTIONS, confirmAdmissions, rangeColumns } from '#server/domain/clients/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
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
import type { ClientRow } from '../rows.ts';

/**
 * Clients are matched by name, and by address where several share one. Their own address goes with them; no credential does, not even an address
 * that was added: what lets somebody in is given on purpose, in the space where it lets them in.
 */
export function planClients(builder: PlanBuilder): void {
  for (const row of builder.source.clients.values()) {
    const same = builder.target.clients.filter((one) => one.name === row.name);
    const exact = same.find((one) => one.ip_address === row.ip_address);
    const ambiguous = !exact && (same.length > 1 || (same.length === 1 && builder.source.namesakes.has(row.name)));
    const match = exact ?? (ambiguous ? null : (same[0] ?? null));
    const changes = match ? changesBetween(settingsOf(builder, match, 'target'), settingsOf(builder, row, 'source')) : [];
    const twin = match?.credentials.some((c) => !c.is_primary && c.ip_range === row.ip_address);
    addStep(
      builder,
      stepOf(builder, 'client', row, match, {
        changes,
        needs: row.collection_id ? [row.collection_id] : [],
        left_behind: match ? [] : row.credentials.flatMap((c) => (c.is_primary ? [] : [leftBehind(c)])),
        conflict: ambiguous
          ? 'Several clients have this name. Rename them so that each is unique.'
          : twin && changes.some((c) => c.field === 'ip_address')
            ? `${row.ip_address} is already a credential of this client in ${there(builder.to)}. Delete it first.`
            : undefined,
        version: match?.credentials.map((c) => c.ip_range),
      }),
    );
  }
}

const WORDS: Record<string, string> = { ip: 'address', mtls_thumbprint: 'certificate' };
const leftBehind = ({ kind, label, ip_range }: ClientRow['credentials'][number]) =>
  [WORDS[kind] ?? 'signature key', label ?? ip_range].filter(Boolean).join(' ');

const settingsOf = (builder: PlanBuilder, row: ClientRow, side: 'source' | 'target') => {
  const { type, ip_address, description } = row;
  return { type, ip_address, ip_notes: jsonOfColumn(row.ip_notes), description, collection: collectionNamed(builder, row, side) };
};

export async function applyClients(tx: Tx, ctx: Ctx, builder: PlanBuilder, steps: readonly Step[], run: string): Promise<AuditEntry[]> {
  const at = { created_at: ctx.now, updated_at: ctx.now };
  const made = steps.filter((step) => !step.exists).map((step) => ({ step, row: builder.source.clients.get(step.id) as ClientRow }));
  await tx.clients.createMany({
    data: made.map(({ step, row }) => ({
      ...own(ctx),
      ...at,
      ...columns(builder, row),
      id: step.there,
      name: row.name,
      enabled: row.enabled,
      created_by: ctx.actor.id,
    })),
  });
  await tx.client_credentials.createMany({
    data: made.map(({ step, row }) => ({
      ...own(ctx),
      ...at,
      id: newId(),
      client_id: step.there,
      kind: 'ip',
      label: 'primary',
      is_primary: true,
      ...rangeColumns(row.ip_address),
    })),
  });
  const before = new Map(builder.target.clients.map((row) => [row.id, row]));
  const widened = steps.filter((step) => {
    const was = before.get(step.there);
    const { ip_address } = builder.source.clients.get(step.id) as ClientRow;
    return step.exists && was && loosened(was, { ip_address }, CLIENT_PROTECTIONS).length > 0;
  });
  await confirmAdmissions(
    tx,
    ctx,
    await admissionsOf(
      tx,
      ctx,
      widened.map((step) => step.there),
    ),
  );
  for (const step of steps.filter((one) => one.exists)) {
    const row = builder.source.clients.get(step.id) as ClientRow;
    await tx.clients.update({
      where: { id: step.there, ...own(ctx) },
      data: { ...columns(builder, row), updated_at: ctx.now },
      select: { id: true },
    });
    if (!step.changes.some((change) => change.field === 'ip_address')) continue;
    await tx.client_credentials.updateMany({
      where: { ...own(ctx), client_id: step.there, is_primary: true },
      data: { ...rangeColumns(row.ip_address), updated_at: ctx.now },
    });
    await bumpRoutesOf(tx, ctx, step.there);
  }
  return steps.map((step) => entryFor(step, run));
}

const columns = (builder: PlanBuilder, row: ClientRow) => ({
  type: row.type,
  ip_address: row.ip_address,
  ip_notes: row.ip_notes as Prisma.InputJsonObject,
  description: row.description,
  collection_id: targetCollectionId(builder, row),
});
