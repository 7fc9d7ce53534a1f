import { createPublicKey, type KeyObject } from 'node:crypto';

/** A stored Ed25519 key, as whoever verifies with it reads it. */
export const ed25519Key = (x: string): KeyObject => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
