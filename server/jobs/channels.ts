import type { Channels } from '#server/domain/deliveries/service.ts';
import { INBOX_CHANNEL, inboxChannel } from '#server/domain/notifications/service.ts';
import { webhookChannel } from '#server/domain/webhooks/channel.ts';
import { CHANNEL } from '#server/domain/webhooks/options.shared.ts';

/** How events reach each kind of destination. */
export const channels: Channels = { [CHANNEL]: webhookChannel(), [INBOX_CHANNEL]: inboxChannel() };
