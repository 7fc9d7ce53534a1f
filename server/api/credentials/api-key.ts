import { keyIdOf } from '#server/crypto/tokens.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { contextOfKey, isValidKey, type KeyLimit, keyRow, legacyKeyAuthOf, limitOfKey, refusalOfKey, stampCaller } from '../api-key.ts';
import type { CredentialReader } from './credential-reader.ts';
import type { V1Request } from './presented.ts';

/** What the Management API knows of its caller after reading the credential. */
export type Recognised = {
  ctx: HotCtx;
  limit: KeyLimit | null;
  /** Keys presented directly are refused on OAuth-only resources, and everywhere when the workspace says so. */
  legacy_key: boolean;
  legacy_key_auth: 'enabled' | 'disabled';
};

/** A valid key that may not be used here. A plane records those that came from an address outside the key's list. */
export class KeyRefused extends Error {
  override readonly name = 'KeyRefused';
  readonly refusal: Refusal;
  readonly wrongAddress: { ctx: HotCtx; name: string; key_id: string } | null;
  constructor(refusal: Refusal, wrongAddress: KeyRefused['wrongAddress']) {
    super(refusal.message);
    this.refusal = refusal;
    this.wrongAddress = wrongAddress;
  }
}

/** API keys and access keys (interface rule 20 §1). No cache: revocation works on the next request. @throws KeyRefused */
export const apiKeys: CredentialReader<Recognised, V1Request> = {
  kinds: ['api_key', 'access_key'],
  read: async (text, { edge, scheme }) => {
    if (scheme === 'dpop') return null;
    const row = await keyRow(keyIdOf(text));
    const now = new Date();
    if (!isValidKey(row, text, now)) return null;
    const ctx = contextOfKey(row, edge, now);
    const refused = refusalOfKey(row, edge);
    if (refused) throw new KeyRefused(refused.refusal, refused.of === 'address' ? { ctx, name: row.name, key_id: row.key_id } : null);
    stampCaller(ctx);
    return { ctx, limit: limitOfKey(row), legacy_key: true, legacy_key_auth: legacyKeyAuthOf(row) };
  },
};
