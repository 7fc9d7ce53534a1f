import type { LeaseHandlers } from '#server/kernel/lease.ts';
import { endSubscription, eraseDeleted } from './erasure.ts';

/** The resource is the workspace. One at a time: its transaction writes to the critical chain. */
export const leases: LeaseHandlers = { tenant_deletion: { batch: 1, release: endSubscription, handle: eraseDeleted } };
