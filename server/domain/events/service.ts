import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import type { EventType } from './catalogue.shared.ts';
import { EVENT_LIFE_MS, sealPayload } from './payload.ts';
import { type SubscriptionSource, storedSubscriptions } from './subscriptions.ts';

export { EVENT_LIFE_MS, type EventRow, eventData, sealPayload } from './payload.ts';

/** `audit.event` is not raised by hand: the database raises it for every audit entry. */
export type DomainEvent = {
  type: Exclude<EventType, 'audit.event'>;
  /** What it is about. */
  source_id: string | null;
  data: Readonly<Record<string, unknown>>;
};

type Place = { tenant_id: string; sandbox: boolean; now: Date };

/**
 * Writes events to the outbox in the caller's transaction: they exist if it commits, and not otherwise. Without a matching subscription nothing is
 * written (spec 60 §3, rule 6). The worker delivers them.
 */
export async function raise(
  tx: Tx,
  { tenant_id, sandbox, now }: Place,
  events: readonly DomainEvent[],
  subscriptions: SubscriptionSource = storedSubscriptions,
): Promise<void> {
  if (events.length === 0) return;
  const wanted = await subscriptions.typesWanted(tx, { tenant_id, sandbox });
  const matching = events.filter(({ type }) => wanted.has(type));
  if (matching.length === 0) return;
  const data = await Promise.all(
    matching.map(async (event) => {
      const id = newId();
      // Without data there is nothing to seal: tenant.sealed is raised while nothing can be.
      const sealed =
        Object.keys(event.data).length > 0 ? await sealPayload({ id, tenant_id, sandbox }, event.data).catch(sealedTenant(event)) : {};
      const expires_at = new Date(now.getTime() + EVENT_LIFE_MS);
      return { id, tenant_id, sandbox, type: event.type, source_id: event.source_id, occurred_at: now, expires_at, ...sealed };
    }),
  );
  await tx.events.createMany({ data });
}

/** What a job says of many workspaces must not wait for the one whose key is out of reach: its event goes without data, once the key is back. */
const sealedTenant =
  ({ type }: DomainEvent) =>
  (error: unknown) => {
    if (!(error instanceof TenantKeyUnavailable)) throw error;
    log.warn({ err: error, type }, 'an event was raised without its data');
    return {};
  };

const BATCH = 5_000;

/** Deletes events that can no longer be delivered, and their deliveries with them. @returns events deleted */
export async function pruneEvents(now: Date): Promise<number> {
  for (let deleted = 0; ; ) {
    const { rowCount } = await sql().query(
      `delete from events where id in (select id from events where expires_at < $1 order by expires_at limit ${BATCH} for update skip locked)`,
      [now],
    );
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return deleted;
  }
}
