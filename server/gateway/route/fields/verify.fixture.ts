import { parseSignature, signingOptions, verify } from '#server/crypto/transit/signatures.ts';
import { findKey } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import type { Ctx } from '#server/kernel/context.ts';

/** Whether a signature is that of a stored key over the data. */
export async function verifyWith(ctx: Ctx, name: string, data: Buffer, signature: string): Promise<boolean> {
  const key = await findKey(ctx, name);
  if (!key) throw new Error('no such key');
  const { version, bytes } = parseSignature(signature);
  return verify(await material(key, version ?? key.current_version), data, bytes, signingOptions(key.key_type));
}
