import type { LeaseHandlers } from '#server/kernel/lease.ts';
import { retryConnection, tellOfLost } from './connections/notices.ts';
import { notifyExpiring } from './expiry-notices.ts';

export const leases: LeaseHandlers = {
  /** Hourly, and with a large batch: all values of a space that come up within an hour are one mail. */
  secret: { every: 'hour', batch: 2_000, handle: notifyExpiring },
  secret_connection: { release: retryConnection, handle: tellOfLost },
};
