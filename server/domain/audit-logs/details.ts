import { memberPhotos } from '#server/domain/people/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { Places } from '#server/platform/geoip.ts';
import type { AuditRow } from './entries.ts';
import { mayReadDetails } from './may-read-details.ts';

export type Entry = Pick<AuditRow, 'id' | 'action' | 'resource_type' | 'resource_id' | 'ip_address' | 'created_at'> & {
  details: Json;
  details_redacted?: boolean;
};
// biome-ignore lint/suspicious/noExplicitAny: the column holds any JSON; the output schema checks it
type Json = Record<string, any>;

/** Shapes rows for this caller as the Management API lists them. */
export async function entryMaker(tx: Tx, ctx: Ctx): Promise<(row: AuditRow) => Entry> {
  const open = await mayReadDetails(tx, ctx);
  return ({ id, action, resource_type, resource_id, details, ip_address, created_at, sandbox }) => {
    const entry = { id, action, resource_type, resource_id, details: open ? details : { sandbox }, ip_address, created_at };
    return open ? entry : { ...entry, details_redacted: true };
  };
}

/** The same with what the dashboard shows beside it. Who acted is not a detail: every role that may list entries sees it. */
export async function viewMaker(tx: Tx, ctx: Ctx) {
  const entry = await entryMaker(tx, ctx);
  return (row: AuditRow) => ({
    ...entry(row),
    store: row.store,
    sandbox: row.sandbox,
    actor: row.actor,
    request_id: row.request_id,
    user_agent: row.user_agent,
    sequence_number: row.sequence_number,
  });
}

/** Entries with the country that their address has today: looked up for the reader, and no part of the record. */
export const locatedBy =
  (known: Places | null) =>
  <T extends { ip_address: string | null }>(entry: T) => ({ ...entry, ip_country: known?.of(entry.ip_address).country ?? null });

/** The same for a page, with the photos of those who are members. */
export async function viewsOf(tx: Tx, ctx: Ctx, rows: readonly AuditRow[]) {
  const view = await viewMaker(tx, ctx);
  const people = rows.flatMap(({ actor: { type, id } }) => (type === 'user' && id !== null && isUuid(id) ? [id] : []));
  const photos = await memberPhotos(tx, ctx, [...new Set(people)]);
  return rows.map((row) => ({ ...view(row), actor: { ...row.actor, photo: photos.get(row.actor.id ?? '') ?? null } }));
}
