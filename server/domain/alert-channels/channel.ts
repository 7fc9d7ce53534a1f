import type { PoolClient } from 'pg';
import type { Attempt, Channel, Ended, Outcome } from '#server/domain/deliveries/service.ts';
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
      return { ...outcome, record: (client, ended) => record(client, attempt, ended, outcome, said) };
    },
  };
}

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

const record = (
  client: PoolClient,
  { destination_id }: Attempt,
  { state }: Ended,
  outcome: Exclude<Outcome, { result: 'dropped' }>,
  said: string | null,
): Promise<void> =>
  client
    .query(
      state === 'succeeded'
        ? 'update alert_channels set last_sent_at = now(), last_error = null where id = $1'
        : 'update alert_channels set last_failed_at = now(), last_error = $2 where id = $1',
      state === 'succeeded' ? [destination_id] : [destination_id, said ?? (outcome.result === 'failed' ? outcome.error : null)],
    )
    .then(() => {});
