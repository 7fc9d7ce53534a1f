import type { LeaseHandlers } from '#server/kernel/lease.ts';
import { removeDue, settleDue } from './sweep.ts';

export const leases: LeaseHandlers = {
  dyn_db_lease: { every: 'apart', batch: 50, releaseAll: removeDue, handle: settleDue },
};
