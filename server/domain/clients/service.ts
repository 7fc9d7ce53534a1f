import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { canonicalAddress, rangesCover } from '#server/kernel/address.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type Looser, loosened, turnedOn } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { confirmAdmissions } from './admission.ts';
import { assignmentEntry } from './assignments.ts';
import type { CreateClient, ListClients, UpdateClient } from './schema.ts';
import {
  admissionsOf,
  asRecord,
  assignedPairs,
  assignmentsOf,
  bumpRoutesOf,
  clientById,
  findPage,
  lockedClient,
  withCounts,
} from './store.ts';

export { type Admission, confirmAdmissions, confirmRequiringClients, REVEALED_BY } from './admission.ts';
export { MOST_PER_PAIR } from './assignments.ts';
export { admissionsOf, bumpRoutesOf } from './store.ts';

/** A page of clients, each with how many routes and credentials it has. */
export const listClients = (ctx: Ctx, query: z.output<typeof ListClients>) =>
  read(ctx, async (tx) => {
    const { rows, total } = await findPage(tx, ctx, query);
    return pageOf(rows, total, query);
  });

/** One client with its assignments. @throws Refusal not_found */
export const getClient = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => {
    const [row] = await withCounts(tx, ctx, [await clientById(tx, ctx, input.id)]);
    if (!row) throw notFound();
    return { ...row, route_assignments: await assignmentsOf(tx, ctx, row.id) };
  });

/** A client with its address as its primary credential. @throws Refusal plan_limit (403), validation_error */
export function createClient(ctx: Ctx, input: z.output<typeof CreateClient>) {
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'clients');
    await requireCollection(tx, ctx, input.collection_id);
    warnOfWideRange(ctx, input.ip_address);
    const at = { created_at: ctx.now, updated_at: ctx.now };
    const { ip_notes = {}, ...plain } = input;
    const row = await tx.clients.create({
      data: { ...own(ctx), ...plain, ...at, id: newId(), ip_notes: ip_notes as Prisma.InputJsonObject, created_by: ctx.actor.id },
    });
    await tx.client_credentials.create({
      data: {
        ...own(ctx),
        ...at,
        id: newId(),
        client_id: row.id,
        kind: 'ip',
        label: 'primary',
        is_primary: true,
        ...rangeColumns(row.ip_address),
      },
      select: { id: true },
    });
    return audited(asRecord(row), entryOf(row, 'create'));
  });
}

/** Which changes let a client in by more, wherever it is assigned and clients are required. */
export const CLIENT_PROTECTIONS: Looser<Omit<z.output<typeof UpdateClient>, 'id'>> = {
  name: 'harmless',
  type: 'harmless',
  ip_address: (before, after) => !rangesCover([before], [after]),
  ip_notes: 'harmless',
  description: 'harmless',
  enabled: turnedOn,
  collection_id: 'harmless',
};

/** @throws Refusal not_found, conflict when the new address is another credential of this client, what `confirmAdmissions` throws */
export function updateClient(ctx: Ctx, { id, ...input }: z.output<typeof UpdateClient>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedClient(tx, ctx, id);
    if (loosened(before, input, CLIENT_PROTECTIONS).length > 0) await confirmAdmissions(tx, ctx, await admissionsOf(tx, ctx, [before.id]));
    await requireCollection(tx, ctx, input.collection_id);
    const { ip_notes, ...plain } = input;
    const after = await tx.clients.update({
      where: { id: before.id, ...own(ctx) },
      data: { ...plain, ...(ip_notes === undefined ? {} : { ip_notes: ip_notes as Prisma.InputJsonObject }), updated_at: ctx.now },
    });
    if (after.ip_address !== before.ip_address) await moveAddress(tx, ctx, after);
    const changes = changesOf(before, after, Object.keys(input));
    if (changes.some((c) => c.field === 'enabled' || c.field === 'ip_address')) await bumpRoutesOf(tx, ctx, after.id);
    const only = changes.length === 1 && changes[0]?.field === 'enabled';
    return audited(asRecord(after), { ...entryOf(after, only ? (after.enabled ? 'enable' : 'disable') : 'update'), changes });
  });
}

/** Removes the client, its credentials and its assignments; it is admitted nowhere from the next call on. @throws Refusal not_found */
export function deleteClient(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedClient(tx, ctx, input.id);
    const held = await assignedPairs(tx, ctx, row.id);
    await bumpRoutesOf(tx, ctx, row.id);
    const credentials = await tx.client_credentials.findMany({ where: { ...own(ctx), client_id: row.id }, select: { id: true } });
    await forgetCredentials(
      tx,
      ctx,
      credentials.map((c) => c.id),
    );
    await tx.$executeRaw`
      update collection_environment_defaults set default_client_ids = array_remove(default_client_ids, ${row.id}::uuid)
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${row.id}::uuid = any(default_client_ids)`;
    await tx.clients.delete({ where: { id: row.id, ...own(ctx) }, select: { id: true } });
    return audited({ deleted: true as const }, entryOf(row, 'delete'), held.map(assignmentEntry({ assigned: [], unassigned: [row.id] })));
  });
}

export const entryOf = (client: { id: string; name: string }, action: string, details?: Record<string, unknown>): AuditEntry => ({
  action,
  resource_type: 'client',
  resource_id: client.id,
  name: client.name,
  ...(details ? { details } : {}),
});

/** The columns of a credential of kind ip; `value` is canonical. */
export const rangeColumns = (value: string) => ({ data: { value }, ip_range: value });

/** What else knows of credentials that go: when they matched, and which secret they read. */
export async function forgetCredentials(tx: Tx, ctx: Ctx, ids: string[]): Promise<void> {
  await tx.credential_usage.deleteMany({ where: { ...own(ctx), id: { in: ids } } });
  await tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'client_credential', referrer_id: { in: ids } } });
}

/** A range that holds very many addresses is accepted, and said (interface rule 11 §2.2). */
export function warnOfWideRange(ctx: Ctx, value: string): void {
  const answer = canonicalAddress(value);
  if (answer.ok && answer.warning) ctx.warnings.push(answer.warning);
}

/** The client's address is mirrored as its primary credential, so that there is one table to match. */
async function moveAddress(tx: Tx, ctx: Ctx, client: { id: string; ip_address: string }): Promise<void> {
  warnOfWideRange(ctx, client.ip_address);
  const twin = await tx.client_credentials.findFirst({
    where: { ...own(ctx), client_id: client.id, kind: 'ip', is_primary: false, ip_range: client.ip_address },
    select: { id: true },
  });
  if (twin)
    throw new Refusal('conflict', `${client.ip_address} is already another credential of this client. Delete that credential first.`);
  await tx.client_credentials.updateMany({
    where: { ...own(ctx), client_id: client.id, is_primary: true },
    data: { ...rangeColumns(client.ip_address), updated_at: ctx.now },
  });
}

async function requireCollection(tx: Tx, ctx: Ctx, id: string | null | undefined): Promise<void> {
  if (id && !(await tx.collections.findFirst({ where: { ...own(ctx), id }, select: { id: true } })))
    throw invalid('collection_id', 'no such collection');
}
