import { keyring } from '#server/platform/keys.ts';
import { type Listener, listen } from '#server/platform/notify.ts';

/**
 * Drops a tenant's keys from this process as soon as any process rotated, revoked or moved them (interface rule 31 §5). For every long-lived role
 * but the gateway, which listens anyway. After a lost connection everything is dropped, because announcements may have been missed.
 */
export const watchTenantKeys = (): Listener =>
  listen({ channels: ['tenant_changed'], onMessage: (_, tenantId) => keyring().evict(tenantId), onConnect: () => keyring().wipe() });
