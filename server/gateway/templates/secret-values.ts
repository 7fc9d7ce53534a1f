import type { Keyring } from '#server/crypto/keyring.ts';
import type { Space } from '#server/kernel/context.ts';
import type { SecretValue } from '../snapshot/model.ts';

export type SecretValues = {
  /**
   * The bytes of a value, at once when its tenant key is in memory. They are wiped within 5 s: use them in the same turn and keep none.
   * Throws or rejects with TenantKeyUnavailable, DecryptFailed, or what fetching the tenant key threw.
   */
  open(tenantId: string, space: Space, value: SecretValue): Buffer | Promise<Buffer>;
  /** Drops everything of a workspace at once (its key was rotated, revoked or sealed). */
  forget(tenantId: string): void;
  wipe(): void;
};

const LIFETIME_MS = 5_000;

/** Plaintext of secrets, held at most 5 s (interface rule 12 §15). A new value is a new id, so nothing here can be out of date. */
export function secretValues(keyring: Keyring): SecretValues {
  const held = new Map<string, { bytes: Buffer; tenantId: string; until: number }>();
  const sweeper = setInterval(() => {
    const now = performance.now();
    for (const [id, entry] of held) if (entry.until <= now) drop(id, entry);
  }, 500);
  sweeper.unref();

  const drop = (id: string, entry: { bytes: Buffer }) => {
    held.delete(id);
    entry.bytes.fill(0);
  };
  const keep = (id: string, tenantId: string, bytes: Buffer): Buffer => {
    const before = held.get(id);
    if (before) before.bytes.fill(0);
    // The sweeper may come half a second late; the promise is 5 s.
    held.set(id, { bytes, tenantId, until: performance.now() + LIFETIME_MS - 500 });
    return bytes;
  };

  return {
    open(tenantId, space, value) {
      const entry = held.get(value.id);
      if (entry) {
        if (entry.until > performance.now()) return entry.bytes;
        drop(value.id, entry);
      }
      const place = { tenant_id: tenantId, space, purpose: 'secret_value', row_id: value.id } as const;
      const bytes = keyring.openValueSync(place, value.sealed);
      if (bytes) return keep(value.id, tenantId, bytes);
      return keyring.openValue(place, value.sealed).then((opened) => keep(value.id, tenantId, opened));
    },
    forget(tenantId) {
      for (const [id, entry] of held) if (entry.tenantId === tenantId) drop(id, entry);
    },
    wipe() {
      clearInterval(sweeper);
      for (const [id, entry] of held) drop(id, entry);
    },
  };
}
