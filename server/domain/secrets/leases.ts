import type { LeaseHandlers } from '#server/kernel/lease.ts';
import { notifyExpiring } from './expiry-notices.ts';

/** Hourly, and with a large batch: all values of a space that come up within an hour are one mail. */
export const leases: LeaseHandlers = { secret: { every: 'hour', batch: 2_000, handle: notifyExpiring } };
