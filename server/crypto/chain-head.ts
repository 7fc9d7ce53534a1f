import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { lengthPrefixed } from './length-prefixed.ts';
import { randomBuffer } from './random.ts';

/** The last row of a chain at a moment: what a checkpoint and an export's trailer sign (interface rule 31 §10.7). */
export type ChainHead = { chain_id: string; sequence_number: bigint; row_hash: Uint8Array; at: Date };

/** The deployment's Ed25519 key; `key_id` is the first 16 hex digits of SHA-256 over the 32 bytes of the public key, `x` those bytes. */
export type SigningKey = { key_id: string; x: string; private_key: KeyObject };

const pkcs8Ed25519 = Buffer.from('302e020100300506032b657004220420', 'hex'); // RFC 8410: everything of the key file before its 32 bytes

export const newSigningSeed = (): Buffer => randomBuffer(32);

/** The key of a 32-byte seed (RFC 8032 §5.1.5). */
export function signingKeyOf(seed: Uint8Array): SigningKey {
  const der = Buffer.concat([pkcs8Ed25519, seed]);
  const private_key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  const { x = '' } = createPublicKey(private_key).export({ format: 'jwk' });
  return { key_id: keyIdOf(x), x, private_key };
}

const keyIdOf = (x: string) => hash('sha256', Buffer.from(x, 'base64url'), 'hex').slice(0, 16);

/** `"SVCHEAD1"`, then length-prefixed chain_id, sequence number (u64 big-endian), row hash, and the time as YYYY-MM-DDTHH:MM:SS.mmmZ. */
export function headBytes(head: ChainHead): Buffer {
  const sequence = Buffer.alloc(8);
  sequence.writeBigUInt64BE(head.sequence_number);
  return Buffer.concat([
    Buffer.from('SVCHEAD1', 'latin1'),
    lengthPrefixed([head.chain_id, sequence, head.row_hash, head.at.toISOString()]),
  ]);
}

export const signHead = (key: SigningKey, head: ChainHead): Buffer => sign(null, headBytes(head), key.private_key);

/** Whether the signature was made by the key whose public bytes are `x` (base64url). */
export function headHolds(x: string, head: ChainHead, signature: Uint8Array): boolean {
  return verify(null, headBytes(head), createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature);
}
