import type { UsableKey } from '#server/custody/keys.ts';
import type { AuditEntry } from '#server/kernel/audit-entry.ts';

/** What an entry says of a use: never data, ciphertexts, tokens or signatures (interface rule 40 §8). */
export type EntryDetails = Readonly<Record<string, unknown>>;

/** The audit entry of a use. */
export const entryOf = (key: UsableKey, details: EntryDetails): AuditEntry => ({
  action: 'execute',
  resource_type: 'crypto_key',
  resource_id: key.id,
  name: key.name,
  details,
});
