import type { PoolClient } from 'pg';
import type { EventType } from '#server/domain/events/catalogue.shared.ts';
import { EVENT_LIFE_MS, sealPayload } from '#server/domain/events/payload.ts';
import { newId } from '#server/kernel/ids.ts';
import { log } from '#server/platform/log.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';

/** An event as gateways raise it: the same rows as `raise` of the events family, written without Prisma. */
export type GatewayEvent = {
  readonly tenant_id: string;
  readonly sandbox: boolean;
  readonly type: Exclude<EventType, 'audit.event'>;
  /** What it is about. */
  readonly source_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly occurred_at: Date;
};

/** Writes an event in the caller's transaction, if somebody subscribes to its type. */
export async function insertEvent(client: PoolClient, event: GatewayEvent): Promise<void> {
  const { tenant_id, sandbox, type, source_id, occurred_at } = event;
  const { rowCount } = await client.query(
    'select from event_subscriptions where tenant_id = $1 and sandbox = $2 and enabled and $3 = any(event_types) limit 1',
    [tenant_id, sandbox, type],
  );
  if (rowCount === 0) return;
  const id = newId();
  const sealed = await sealPayload({ id, tenant_id, sandbox }, event.data);
  await client.query(
    `insert into events (id, tenant_id, sandbox, type, source_id, occurred_at, expires_at, payload_ct, cek_wrapped, tmk_version, payload_bytes)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      id,
      tenant_id,
      sandbox,
      type,
      source_id,
      occurred_at,
      new Date(occurred_at.getTime() + EVENT_LIFE_MS),
      sealed.payload_ct,
      sealed.cek_wrapped,
      sealed.tmk_version,
      sealed.payload_bytes,
    ],
  );
}

/** As `raiseFromCall`, but not when the same was raised about the same thing within 24 hours, by whichever gateway. Never rejects. */
export async function raiseDailyFromCall(event: Omit<GatewayEvent, 'occurred_at'> & { source_id: string }): Promise<void> {
  const { tenant_id, sandbox, type, source_id } = event;
  const occurred_at = new Date();
  await inOwnTransaction(event, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${type} ${source_id}`]);
    const { rowCount } = await client.query(
      `select from events where tenant_id = $1 and sandbox = $2 and type = $3 and source_id = $4 and occurred_at > $5::timestamptz - interval '1 day' limit 1`,
      [tenant_id, sandbox, type, source_id, occurred_at],
    );
    if (rowCount === 0) await insertEvent(client, { ...event, occurred_at });
  }).catch((error: unknown) => log.error({ err: error, type, source_id }, 'an event of a call was not raised'));
}

/** Raises an event of a call, in the background: the answer never waits for it. A failure is logged. */
export function raiseFromCall(event: Omit<GatewayEvent, 'occurred_at'>): void {
  const occurred_at = new Date();
  inOwnTransaction(event, (client) => insertEvent(client, { ...event, occurred_at })).catch((error: unknown) =>
    log.error({ err: error, type: event.type, source_id: event.source_id }, 'an event of a call was not raised'),
  );
}
