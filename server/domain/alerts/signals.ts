import type { Channel } from '#server/domain/deliveries/service.ts';
import type { EventType } from '#server/domain/events/catalogue.shared.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { sql } from '#server/platform/sql.ts';
import type { AlertType } from './conditions.shared.ts';
import type { AlertRow } from './store.ts';

// Runs of workflows and the presence of agents are known to alerts by their events. Such an alert subscribes to them: the delivery engine hands it each event
// once, whatever crashes, and it keeps what it counts.

/** The engine's name of it, in `event_subscriptions.channel`. */
export const SIGNALS = 'alert_signal';

const EVENTS: Partial<Record<AlertType, EventType[]>> = {
  workflow_failed: ['workflow.execution.failed'],
  agent_offline: ['agent.online', 'agent.offline'],
};
/** Where an event names what it is about. */
const SUBJECTS = { workflow: ['workflow_id', 'workflow_name'], agent: ['agent_id', 'agent_name'] } as const;

/** Subscribes an alert to the events that it counts, or ends that. */
export async function saveSignalSubscription(tx: Tx, ctx: Ctx, { id, type, enabled }: AlertRow, gone = false): Promise<void> {
  const event_types = EVENTS[type];
  if (!event_types) return;
  const at = { channel: SIGNALS, destination_id: id };
  if (gone) return void (await tx.event_subscriptions.deleteMany({ where: { ...own(ctx), ...at } }));
  await tx.event_subscriptions.upsert({
    where: { channel_destination_id: at },
    create: { ...own(ctx), ...at, id, enabled, event_types, max_attempts: 10 },
    update: { enabled },
  });
}

/** Takes the events that alerts subscribe to: a row for each, once. */
export const signalChannel = (): Channel => ({
  async deliver({ tenant_id, sandbox, destination_id, event }) {
    const kind = event.type.startsWith('agent.') ? 'agent' : 'workflow';
    const [idField, nameField] = SUBJECTS[kind];
    const { [idField]: subject, [nameField]: name = event.data.name } = event.data;
    const subject_id = String(subject ?? event.data.id ?? kind);
    const { rowCount } = await sql().query(
      `insert into alert_signals (alert_id, event_id, tenant_id, sandbox, type, subject_id, subject_name, occurred_at)
       select id, $2, tenant_id, sandbox, $3, $4, $5, $6 from alerts where id = $1 and tenant_id = $7 and sandbox = $8
       on conflict do nothing`,
      [destination_id, event.id, event.type, subject_id, typeof name === 'string' ? name : null, event.occurred_at, tenant_id, sandbox],
    );
    return rowCount === null ? { result: 'dropped' } : { result: 'delivered' };
  },
});

/** Forgets what no window reaches back to, but for the last word of each agent. @returns rows removed */
export async function pruneSignals(now: Date): Promise<number> {
  const { rowCount } = await sql().query(
    `delete from alert_signals s where occurred_at < $1 and (type not like 'agent.%' or exists (
       select from alert_signals l where l.alert_id = s.alert_id and l.subject_id = s.subject_id and l.occurred_at > s.occurred_at))`,
    [new Date(now.getTime() - 2 * 86_400_000)],
  );
  return rowCount ?? 0;
}
