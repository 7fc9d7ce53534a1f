import type { Keyring } from '#server/crypto/keyring.ts';
import type { Space } from '#server/kernel/context.ts';
import type { SealedValue } from '../snapshot/model.ts';

export type SecretValues = {
  /**
   * What `use` makes of the bytes of a value, at once when its tenant key is in memory. A shared value opens with the key of its owner. The bytes are shared and wiped later, so `use` runs before
   * anything else can and must keep none of them.
   * Throws or rejects with TenantKeyUnavailable, DecryptFailed, or what fetching the tenant key threw.
   */
  open<T>(tenantId: string, space: Space, value: SealedValue, use: (bytes: Buffer) => T): T | Promise<T>;
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
    // Calls that waited for the same tenant key each opened the value.
    const before = held.get(id);
    if (before) drop(id, before);
    // The sweeper may come half a second late; the promise is 5 s.
    held.set(id, { bytes, tenantId, until: performance.now() + LIFETIME_MS - 500 });
    return bytes;
  };

  return {
    open(callerId, space, value, use) {
      const tenantId = value.tenantId ?? callerId;
      const entry = held.get(value.id);
      if (entry) {
        if (entry.until > performance.now()) return use(entry.bytes);
        drop(value.id, entry);
      }
      const place = { tenant_id: tenantId, space, purpose: value.purpose ?? 'secret_value', row_id: value.id } as const;
      const bytes = keyring.openValueSync(place, value.sealed);
      if (bytes) return use(keep(value.id, tenantId, bytes));
      return keyring.openValue(place, value.sealed).then((opened) => use(keep(value.id, tenantId, opened)));
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
