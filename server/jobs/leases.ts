import { families } from '#server/domain/families.ts';
import type { Family } from '#server/kernel/family.ts';
import type { LeaseHandler, LeaseHandlers, LeasePace } from '#server/kernel/lease.ts';

const handlers: [string, LeaseHandler][] = (families as readonly Family[]).flatMap(({ leases = {} }) => Object.entries(leases));

export const leaseKinds: readonly string[] = handlers.map(([kind]) => kind);

/** The handlers of every kind of lease that is swept at this pace. */
export const leaseHandlers = (every: LeasePace): LeaseHandlers =>
  Object.fromEntries(handlers.filter(([, handler]) => (handler.every ?? 'tick') === every));
