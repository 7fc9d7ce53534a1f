import { alertChannel } from '#server/domain/alert-channels/channel.ts';
import { ALERT_CHANNEL } from '#server/domain/alert-channels/kinds.shared.ts';
import { SIGNALS, signalChannel } from '#server/domain/alerts/signals.ts';
import type { Channels } from '#server/domain/deliveries/service.ts';
import { INBOX_CHANNEL, inboxChannel } from '#server/domain/notifications/service.ts';
import { webhookChannel } from '#server/domain/webhooks/channel.ts';
import { CHANNEL } from '#server/domain/webhooks/options.shared.ts';
import { workflowChannel } from '#server/domain/workflows/event-channel.ts';
import { CHANNEL as WORKFLOWS } from '#server/domain/workflows/schedules.ts';

/** How events reach each kind of destination. */
export const channels: Channels = {
  [CHANNEL]: webhookChannel(),
  [ALERT_CHANNEL]: alertChannel(),
  [SIGNALS]: signalChannel(),
  [INBOX_CHANNEL]: inboxChannel(),
  [WORKFLOWS]: workflowChannel(),
};
