import type { PoolClient } from 'pg';
import type { Attempt, Channel, Ended } from '#server/domain/deliveries/service.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import type { AlertMessage } from './message.ts';
import { type ChannelToSend, tell } from './sending.ts';

/** How the delivery engine tells alert channels. What the channel's row says of its last attempt commits with the end of the attempt. */
export function alertChannel(http?: OutboundHttp): Channel {
  let out = http;
  return {
    async deliver(attempt, signal) {
      out ??= openHttp({ connections: 16 });
      const [channel] = await ownRows<ChannelToSend>(attempt, CHANNEL, attempt.destination_id);
      const message = attempt.event.data as AlertMessage;
      if (!channel || (await isPast(attempt, message))) return { result: 'dropped' };
      const { delivery_id, number, event } = attempt;
      const { outcome, message: said } = await tell(
        out,
        channel,
        message,
        { id: event.id, delivery_id, attempt: number, at: new Date() },
        signal,
      );
      const kept: Kept = { channel_id: channel.id, at: new Date(), error: said ?? (outcome.result === 'failed' ? outcome.error : null) };
      return { ...outcome, kept };
    },
    record,
  };
}

/** What a channel's row says of an attempt. */
type Kept = { channel_id: string; at: Date; error: string | null };

const CHANNEL = ownQuery(
  'alert-channel-to-tell',
  `select id, tenant_id, sandbox, kind, recipients, value_ct, cek_wrapped, tmk_version from alert_channels
   where id = $3::uuid and tenant_id = $1 and sandbox = $2 and enabled`,
);

/**
 * Messages wait for the end of quiet hours, and receivers may be away: what is over by then is no news. The start of an incident that has ended is not told,
 * and neither is the end of one whose start this channel was never told.
 */
async function isPast(attempt: Attempt, { kind, incident_id }: AlertMessage): Promise<boolean> {
  if (incident_id === null || attempt.trigger !== 'event') return false;
  if (kind === 'resolved') {
    const [told] = await ownRows<{ n: number }>(attempt, TOLD, incident_id, attempt.destination_id);
    return (told?.n ?? 0) === 0;
  }
  const [incident] = await ownRows<{ state: string }>(attempt, INCIDENT, incident_id);
  return incident?.state !== 'open' && attempt.number === 1;
}

const INCIDENT = ownQuery(
  'alert-incident-state',
  'select state from alert_incidents where id = $3::uuid and tenant_id = $1 and sandbox = $2',
);
/** Messages of the incident before this one that left for the channel, or still may. */
const TOLD = ownQuery(
  'alert-incident-told',
  `select count(*)::int as n from alert_incident_entries e join deliveries d on d.event_id = e.message_id and d.destination_id = $4::uuid
   where e.incident_id = $3::uuid and e.tenant_id = $1 and e.sandbox = $2 and e.message in ('opened', 'reminder') and d.state <> 'dropped'`,
);

/** Of several attempts of a channel the last one counts. */
async function record(client: PoolClient, entries: readonly { ended: Ended; kept: unknown }[]): Promise<void> {
  const attempts = entries.map(({ ended, kept }) => ({ ...(kept as Kept), ok: ended.state === 'succeeded' }));
  await client.query(RECORD, [JSON.stringify(attempts)]);
}

const RECORD = `
  update alert_channels c set last_sent_at = greatest(c.last_sent_at, a.sent_at), last_failed_at = greatest(c.last_failed_at, a.failed_at), last_error = a.error
  from (select channel_id, max(at) filter (where ok) as sent_at, max(at) filter (where not ok) as failed_at, (array_agg(case when ok then null else error end order by at desc))[1] as error
    from jsonb_to_recordset($1::jsonb) as r(channel_id uuid, at timestamptz, error text, ok boolean) group by 1 order by 1) a
  where c.id = a.channel_id`;
