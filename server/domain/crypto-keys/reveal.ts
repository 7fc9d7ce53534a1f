import type { z } from 'zod';
import { decrypt, encrypt, encryptConvergent, parseCipherText } from '#server/crypto/transit/cipher-text.ts';
import { countUse } from '#server/custody/counts.ts';
import { material } from '#server/custody/material.ts';
import type { AuditEntry } from '#server/kernel/audit-entry.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import type { RevealCiphertext } from './schema.ts';
import { keyByRef } from './store.ts';
import { activeMaterial, assertOpens, boundOf, inContext, keyFor } from './uses/keys-in-use.ts';

type Input = z.output<typeof RevealCiphertext>;
type Use = 'decrypt' | 'rewrap';

/** Rows 7 and 8 of interface rule 32 §2. Everything that can be wrong with the ciphertext but its authenticity is refused before anything is spent. */
const gateOf = (use: Use): Reveal<Input> => ({
  class: 'B',
  scope: 'plaintext.reveal',
  policy: `transit:${use}`,
  subject: async (ctx, { name }) => {
    const key = await read(ctx, (tx) => keyByRef(tx, ctx, name));
    return { resource_type: 'crypto_key', resource_id: key.id, name: key.name };
  },
  state: async (ctx, input) => {
    const key = await keyFor(ctx, input.name, use);
    const { version } = parseCipherText(input.ciphertext);
    boundOf(key, input);
    assertOpens(key, version);
    return { key_id: key.id, key_name: key.name, key_version: version, ...(use === 'rewrap' ? { to_version: key.current_version } : {}) };
  },
  also: (_ctx, _input, state) => [decryption(use, state)],
});
export const revealOfPlaintext = gateOf('decrypt');
export const revealByRewrap = gateOf('rewrap');

/** Whoever searches the log for decryptions finds those of people as well. */
const decryption = (use: Use, { key_id, key_name, ...versions }: Record<string, unknown>): AuditEntry => ({
  action: 'transit.decrypt',
  resource_type: 'crypto_key',
  resource_id: String(key_id),
  name: String(key_name),
  details: { operation: use, ...versions },
});

/** @throws Refusal decrypt_failed */
export async function revealPlaintext(ctx: Ctx, input: Input) {
  const { plaintext, version } = await opened(ctx, input, 'decrypt');
  try {
    return { plaintext: textOf(plaintext), plaintext_b64: plaintext.toString('base64'), key_version: version };
  } finally {
    plaintext.fill(0);
  }
}

/** The same plaintext under the active version; it never leaves this process. @throws Refusal decrypt_failed */
export async function rewrapByPerson(ctx: Ctx, input: Input) {
  const { key, bound, plaintext } = await opened(ctx, input, 'rewrap');
  try {
    const active = inContext(await activeMaterial(key), bound);
    const key_version = key.current_version;
    const ciphertext = key.convergent
      ? encryptConvergent(active, key_version, plaintext)
      : encrypt(active, key_version, plaintext, bound.aad);
    return { ciphertext, key_version };
  } finally {
    plaintext.fill(0);
  }
}

/** Reads the state of the key once more: it may have changed since the gate. */
async function opened(ctx: Ctx, input: Input, use: Use) {
  const key = await keyFor(ctx, input.name, use);
  const parsed = parseCipherText(input.ciphertext);
  const bound = boundOf(key, input);
  assertOpens(key, parsed.version);
  const plaintext = decrypt(inContext(await material(key, parsed.version), bound), parsed, bound.aad);
  countUse(ctx, key, use, 1, use === 'rewrap' ? key.current_version : undefined);
  return { key, bound, plaintext, version: parsed.version };
}

/** Null for bytes that aren't text. A byte order mark is data. */
function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
