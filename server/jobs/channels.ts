import type { Channels } from '#server/domain/deliveries/service.ts';

/** How events reach each kind of destination. Empty until the first family with destinations (webhooks) brings its channel. */
export const channels: Channels = {};
