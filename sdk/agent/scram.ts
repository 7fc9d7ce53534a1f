import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

// SCRAM-SHA-256 (RFC 5802, RFC 7677) as PostgreSQL speaks it: without channel binding, and with the user name of the startup message.

export type Scram = {
  first: string;
  /** The proof for the server's challenge. Throws when the challenge isn't for this client. */
  answer(challenge: string): string;
  /** Whether the server knows the password as well. */
  isServer(final: string): boolean;
};

/** Iterations that a hostile server could make us spin for at most. */
const MOST_ITERATIONS = 1_000_000;

export function scram(password: string, nonce = randomBytes(18).toString('base64')): Scram {
  const bare = `n=,r=${nonce}`;
  let expected: Buffer | undefined;
  return {
    first: `n,,${bare}`,
    answer(challenge) {
      const { r = '', s = '', i = '' } = attributes(challenge);
      const iterations = Number(i);
      if (!r.startsWith(nonce) || r === nonce || s === '' || !(iterations >= 1 && iterations <= MOST_ITERATIONS))
        throw new Error('The database sent a challenge that isn’t for this connection.');
      const salted = pbkdf2Sync(password.normalize('NFKC'), Buffer.from(s, 'base64'), iterations, 32, 'sha256');
      const clientKey = hmacOf(salted, 'Client Key');
      const withoutProof = `c=biws,r=${r}`;
      const exchanged = `${bare},${challenge},${withoutProof}`;
      const signature = hmacOf(createHash('sha256').update(clientKey).digest(), exchanged);
      expected = hmacOf(hmacOf(salted, 'Server Key'), exchanged);
      const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
      return `${withoutProof},p=${proof.toString('base64')}`;
    },
    isServer(final) {
      const given = Buffer.from(attributes(final).v ?? '', 'base64');
      return expected !== undefined && given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

const hmacOf = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest();

function attributes(message: string): Record<string, string> {
  return Object.fromEntries(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}
