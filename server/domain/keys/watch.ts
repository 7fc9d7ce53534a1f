import { forgetMaterial, wipeMaterial } from '#server/custody/material.ts';
import { keyring } from '#server/platform/keys.ts';
import { type Listener, listen } from '#server/platform/notify.ts';

/**
 * Drops a tenant's keys from this process as soon as any process rotated, revoked or moved them (interface rule 31 §5), and a version of a crypto key when
 * it is destroyed (40 §3.4). For every long-lived role but the gateway, which listens anyway. After a lost connection everything is dropped, because
 * announcements may have been missed.
 */
export const watchKeys = ({ onConnect }: { onConnect?: () => void } = {}): Listener =>
  listen({
    channels: ['tenant_changed', 'key_version_destroyed'],
    onMessage: (channel, id) => (channel === 'tenant_changed' ? keyring().evict(id) : forgetMaterial(id)),
    onConnect: () => {
      keyring().wipe();
      wipeMaterial();
      onConnect?.();
    },
  });
