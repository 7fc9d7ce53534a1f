import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import type { AnyOperation, Reveal } from '#server/kernel/operation.ts';
import { mayReadDetails } from './may-read-details.ts';
import type { AuditEntryDetail, AuditRef } from './schema.ts';
import { entryById, getAuditLog } from './service.ts';

type Input = z.output<typeof AuditRef>;

/** Row 23 of interface rule 32 §2. Whoever may read details anyway is answered by `plain`. */
export const revealOfDetails = (plain: AnyOperation): Reveal<Input> => ({
  class: 'B',
  scope: 'plaintext.reveal',
  policy: 'audit_log:read_details',
  subject: async (ctx, { id }) => {
    const row = await read(ctx, (tx) => entryById(tx, ctx, id));
    if (!row) throw notFound();
    return { resource_type: 'audit_log', resource_id: id, name: `${row.action} ${row.resource_type}` };
  },
  unguarded: async (ctx) => ((await read(ctx, (tx) => mayReadDetails(tx, ctx))) ? plain : null),
});

/** The entry as others see it, and the details of this one. Those of its request stay withheld. */
export async function revealDetails(ctx: Ctx, { id }: Input) {
  const shown = await getAuditLog(ctx, { id });
  const row = await read(ctx, (tx) => entryById(tx, ctx, id));
  if (!row) throw notFound();
  const { details_redacted: _, ...entry } = shown;
  // Any JSON; the output schema checks it.
  return { ...entry, details: row.details as z.input<typeof AuditEntryDetail>['details'] };
}
