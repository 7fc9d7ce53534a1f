import type { z } from 'zod';
import {
  bytesOfEither,
  decrypt as decipher,
  encrypt as encipher,
  encryptConvergent,
  newDataKey,
  type ParsedCipherText,
  parseCipherText,
} from '#server/crypto/transit/cipher-text.ts';
import type { Material } from '#server/crypto/transit/material.ts';
import { countUse } from '#server/custody/counts.ts';
import { type UsableKey, versionOf } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import { auditFirst, recordUse } from '#server/custody/uses.ts';
import { reasonOf } from '#server/domain/reveals/reason.shared.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { MAX_DATA_BYTES } from '#server/kernel/key-types.ts';
import { type Batch, carriedOut } from './batch.ts';
import { type EntryDetails, entryOf } from './entries.ts';
import { activeMaterial, assertMayDecrypt, assertOpens, boundOf, inContext, keyFor } from './keys-in-use.ts';
import type { Decrypt, DecryptItem, Encrypt, EncryptItem, NewDataKey, Rewrap } from './schema.ts';

type CipherText = { ciphertext: string; key_version: number };

/** @throws Refusal not_found, key_managed, tenant_sealed, audit_unavailable, key_version_disabled while the active version awaits its destruction */
export async function encrypt(ctx: HotCtx, input: z.output<typeof Encrypt>): Promise<CipherText | Batch<CipherText>> {
  const key = await keyFor(ctx, input.name, 'encrypt');
  const active = await activeMaterial(key);
  let bytes = 0;
  const one = (item: EncryptItem): CipherText => {
    const plaintext = bytesOfEither('plaintext', item.plaintext, item.plaintext_b64, MAX_DATA_BYTES);
    const answer = { ciphertext: encrypted(key, active, plaintext, item), key_version: key.current_version };
    bytes += plaintext.length;
    return answer;
  };
  const { answer, done, of } = await carriedOut(input, one);
  adviseRotation(ctx, key);
  recordUse(ctx, entryOf(key, { operation: 'encrypt', key_version: key.current_version, bytes, ...of }));
  countUse(ctx, key, 'encrypt', done.length, key.current_version);
  return answer;
}

function encrypted(key: UsableKey, active: Material, plaintext: Buffer, item: Parameters<typeof boundOf>[1]): string {
  const bound = boundOf(key, item);
  const opened = inContext(active, bound);
  return key.convergent
    ? encryptConvergent(opened, key.current_version, plaintext)
    : encipher(opened, key.current_version, plaintext, bound.aad);
}

type Plaintext = { plaintext?: string; plaintext_b64?: string; key_version: number };

/**
 * The entry of the audit log is durable before anything is answered. @throws Refusal as `encrypt`, and decrypt_failed, key_version_disabled,
 * key_version_destroyed, validation_error
 */
export async function decrypt(ctx: HotCtx, input: z.output<typeof Decrypt>): Promise<Plaintext | Batch<Plaintext>> {
  const reason = reasonIn(input.reveal_reason);
  const key = await keyFor(ctx, input.name, 'decrypt');
  const one = async (item: DecryptItem): Promise<Plaintext> => {
    const parsed = parseCipherText(item.ciphertext);
    const plaintext = await opened(key, parsed, item);
    try {
      return { ...shown(plaintext, input.format), key_version: parsed.version };
    } finally {
      plaintext.fill(0);
    }
  };
  const { answer, done, of } = await carriedOut(input, one);
  await auditFirst(ctx, [
    { ...entryOf(key, { ...versionsOf(done), ...of }), action: 'transit.decrypt', ...(reason === undefined ? {} : { reason }) },
  ]);
  countUse(ctx, key, 'decrypt', done.length);
  return answer;
}

async function opened(key: UsableKey, parsed: ParsedCipherText, item: Parameters<typeof boundOf>[1]): Promise<Buffer> {
  const bound = boundOf(key, item);
  assertOpens(key, parsed.version);
  return decipher(inContext(await material(key, parsed.version), bound), parsed, bound.aad);
}

function shown(plaintext: Buffer, format: 'utf8' | undefined): Omit<Plaintext, 'key_version'> {
  if (format === undefined) return { plaintext_b64: plaintext.toString('base64') };
  try {
    return { plaintext: utf8.decode(plaintext) };
  } catch {
    throw new Refusal('validation_error', 'plaintext is not UTF-8; omit format');
  }
}
/** A byte order mark is data as well. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Moves ciphertexts to the active version; the plaintext never leaves this process. @throws Refusal as `decrypt` */
export async function rewrap(ctx: HotCtx, input: z.output<typeof Rewrap>): Promise<CipherText | Batch<CipherText>> {
  const key = await keyFor(ctx, input.name, 'rewrap');
  const active = await activeMaterial(key);
  const from = new Set<number>();
  const one = async (item: DecryptItem): Promise<CipherText> => {
    const parsed = parseCipherText(item.ciphertext);
    const plaintext = await opened(key, parsed, item);
    try {
      const answer = { ciphertext: encrypted(key, active, plaintext, item), key_version: key.current_version };
      from.add(parsed.version);
      return answer;
    } finally {
      plaintext.fill(0);
    }
  };
  const { answer, done, of } = await carriedOut(input, one);
  adviseRotation(ctx, key);
  const [only] = from;
  const versions: EntryDetails = from.size === 1 ? { from_version: only } : { from_versions: [...from].sort((a, b) => a - b) };
  recordUse(
    ctx,
    entryOf(key, { operation: 'rewrap', key_version: key.current_version, ...versions, to_version: key.current_version, ...of }),
  );
  countUse(ctx, key, 'rewrap', done.length, key.current_version);
  return answer;
}

/** A random key for use elsewhere. In clear only for who may decrypt, and then audited like a decryption. @throws Refusal as `encrypt`, and forbidden */
export async function makeDataKey(ctx: HotCtx, input: z.output<typeof NewDataKey>) {
  const key = await keyFor(ctx, input.name, 'datakey');
  if (input.include_plaintext) await assertMayDecrypt(ctx, key);
  if (key.convergent) throw invalid('name', 'a convergent key makes no data keys');
  const bound = boundOf(key, input);
  const { plaintext, ciphertext } = newDataKey(inContext(await activeMaterial(key), bound), key.current_version, input.bits, bound.aad);
  try {
    const answer = { ciphertext, key_version: key.current_version };
    const entry = entryOf(key, {
      operation: 'datakey',
      key_version: key.current_version,
      bits: input.bits,
      include_plaintext: input.include_plaintext,
    });
    adviseRotation(ctx, key);
    if (!input.include_plaintext) recordUse(ctx, entry);
    else await auditFirst(ctx, [entry]);
    countUse(ctx, key, 'datakey', 1, key.current_version);
    return input.include_plaintext ? { plaintext_b64: plaintext.toString('base64'), ...answer } : answer;
  } finally {
    plaintext.fill(0);
  }
}

/** The version, or the versions, that answers were made with. */
function versionsOf(done: readonly { key_version: number }[]): EntryDetails {
  const versions = [...new Set(done.map(({ key_version }) => key_version))].sort((a, b) => a - b);
  return versions.length === 1 ? { key_version: versions[0] } : { key_versions: versions };
}

/** Random IVs are safe for 2^32 encryptions (interface rule 40 §6.5). */
function adviseRotation(ctx: HotCtx, key: UsableKey): void {
  if (key.convergent || !versionOf(key, key.current_version)?.worn) return;
  ctx.warnings.push('The active version of this key has made more than 2^31 encryptions. Rotate the key.');
}

function reasonIn(header: string | undefined): string | undefined {
  try {
    return reasonOf({ reveal_reason: header }, false);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal('validation_error', error.message) : error;
  }
}
