import { call } from '#server/domain/request-logs/call.fixture.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Evaluated, evaluateAlerts } from './evaluation.ts';
import { MINUTE } from './watched.ts';

/** A whole minute two hours ago, from which tests count. */
export const BASE = Math.floor(Date.now() / MINUTE) * MINUTE - 120 * MINUTE;
/** So many minutes and seconds after it. */
export const at = (minutes: number, seconds = 0): Date => new Date(BASE + minutes * MINUTE + seconds * 1_000);

/** Writes calls as gateways do: rows and the minutes they add up to. */
export async function calls(ctx: Ctx, n: number, when: Date, over: Partial<LogRow> = {}): Promise<string[]> {
  const rows = Array.from({ length: n }, () => call(ctx, { ts: when.toISOString(), ...over }));
  await insertRows(sql(), rows);
  return rows.map(({ request_id }) => request_id);
}
export const failing = { status_code: 503, upstream_status: 503 } as const;

/** An alert that has been watched for a day. */
export async function alertOf(ctx: Ctx, input: Record<string, unknown>): Promise<{ id: string }> {
  const alert = await made(ctx, 'alerts.create', { name: fresh('alert'), ...input });
  await db().alerts.update({ where: { id: alert.id }, data: { watching_since: new Date(BASE - 24 * 60 * MINUTE) } });
  return alert;
}

export const look = (now: Date): Promise<Evaluated> => evaluateAlerts(db(), now);
/** Looks every 30 seconds, as the worker does, from one moment to another, both included. */
export async function lookFrom(from: Date, to: Date): Promise<void> {
  for (let now = from.getTime(); now <= to.getTime(); now += 30_000) await look(new Date(now));
}

export const incidentsOf = (alert_id: string) => db().alert_incidents.findMany({ where: { alert_id }, orderBy: { started_at: 'asc' } });
export const stateOf = async (id: string) => (await db().alerts.findUniqueOrThrow({ where: { id } })).state;

/** A channel that nobody has to listen behind: its messages wait. */
export const channelOf = async (ctx: Ctx, input: Record<string, unknown> = {}): Promise<string> =>
  (await made(ctx, 'alert_channels.create', { name: fresh('channel'), kind: 'discord', url: 'https://127.0.0.1:65001/hook', ...input })).id;

/** What was queued for a channel, in order, with when it may leave. */
export async function messagesTo(channel: string) {
  const { rows } = await sql().query<{ kind: string; next_attempt_at: Date; event_id: string; state: string }>(
    `select e.message as kind, d.next_attempt_at, d.event_id, d.state from deliveries d join alert_incident_entries e on e.message_id = d.event_id
     where d.destination_id = $1 order by d.created_at, e.at`,
    [channel],
  );
  return rows;
}
export const kindsTo = async (channel: string) => (await messagesTo(channel)).map(({ kind }) => kind);
