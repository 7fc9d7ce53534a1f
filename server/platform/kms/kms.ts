import { tenantKeyAad } from '#server/crypto/aad.ts';
import type { KmsPlace } from '#server/crypto/keyring.ts';

/** Which workspace's key, and which version of it, a ciphertext is bound to. */
export type KmsBinding = { tenantId: string; version: number };

/** A key of a KMS that wraps 32 bytes. Both calls throw whatever the SDK throws; `refusalOf` says what that means. */
export type KmsProvider = {
  wrap(place: KmsPlace, binding: KmsBinding, key: Uint8Array, signal: AbortSignal): Promise<KmsWrapped>;
  unwrap(place: KmsPlace, binding: KmsBinding, blob: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /** What an error means; undefined for a fault of the network or the provider, which is `unreachable`. */
  refusalOf(error: unknown): string | undefined;
  /** Forgets clients and the tokens they hold. */
  forget?(): void;
};
export type KmsWrapped = { blob: Uint8Array<ArrayBuffer>; key_version: string | null };

/** The KMS refused (`access_denied`), or didn't answer in time (interface rule 31 §8). `detail` is the provider's code, without IDs or text of the customer. */
export class KmsFailure extends Error {
  override readonly name = 'KmsFailure';
  readonly reason: 'access_denied' | 'unreachable';
  readonly detail: string;

  constructor(reason: KmsFailure['reason'], detail: string, options?: ErrorOptions) {
    super(`the KMS is ${reason === 'unreachable' ? 'unreachable' : 'refusing access'} (${detail})`, options);
    this.reason = reason;
    this.detail = detail;
  }
}

/** The AAD of a binding: what ties a ciphertext to one version of one workspace's key. */
export const bindingText = ({ tenantId, version }: KmsBinding): string => tenantKeyAad(tenantId, version);
