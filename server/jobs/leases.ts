import { leases as apiKeys } from '#server/domain/api-keys/leases.ts';
import type { LeaseHandlers } from '#server/domain/leases/service.ts';
import { leases as secrets } from '#server/domain/secrets/leases.ts';
import { leases as signUps } from '#server/domain/signup/leases.ts';

const handlers: LeaseHandlers = { ...apiKeys, ...secrets, ...signUps };

/** The handlers of every kind of lease that is swept at this pace. */
export const leaseHandlers = (every: 'tick' | 'hour'): LeaseHandlers =>
  Object.fromEntries(Object.entries(handlers).filter(([, handler]) => (handler.every ?? 'tick') === every));
