import { argon2, createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { normalisePassword } from './password-policy.ts';
import { randomBuffer } from './random.ts';

/** Argon2id (RFC 9106): memory in KiB, passes, lanes. About a tenth of a second; needs 64 MiB while it runs. */
const current = { memory: 65_536, passes: 3, parallelism: 1 } as const;
const saltBytes = 16;
const tagBytes = 32;
/** Longer input is no password of ours (the policy allows 128 code points) and not worth normalising. */
const longest = 4_096;

export type PasswordCheck = {
  valid: boolean;
  /** The stored hash should be replaced now that the password is at hand. */
  rehash: boolean;
};

/**
 * The PHC string to store: `$argon2id$v=19$m=65536,t=3,p=1$salt$hash`. With a pepper (PASSWORD_PEPPER_B64) the password goes
 * through HMAC-SHA256 first and `keyid` names the pepper, so that hashes from before and after it can live side by side.
 */
export async function hashPassword(password: string, pepper?: KeyObject): Promise<string> {
  const salt = randomBuffer(saltBytes);
  const tag = await derive(message(password, pepper), salt, current, tagBytes);
  const keyid = pepper ? `,keyid=${pepperId(pepper)}` : '';
  return `$argon2id$v=19$m=${current.memory},t=${current.passes},p=${current.parallelism}${keyid}$${phc64(salt)}$${phc64(tag)}`;
}

/**
 * Whether the password belongs to the stored hash. `stored` null (no such user, or a user without a password) costs the same
 * time and is never valid. A hash of unknown form or of a lost pepper is not valid either.
 */
export async function verifyPassword(stored: string | null, password: string, pepper?: KeyObject): Promise<PasswordCheck> {
  const known = stored === null ? undefined : parse(stored);
  const usable =
    known !== undefined && password.length <= longest && (known.keyid === undefined || (pepper && pepperId(pepper) === known.keyid));
  if (!usable) {
    await derive(message(password.slice(0, longest), pepper), randomBuffer(saltBytes), current, tagBytes);
    return { valid: false, rehash: false };
  }
  const tag = await derive(message(password, known.keyid === undefined ? undefined : pepper), known.salt, known, known.tag.length);
  const valid = timingSafeEqual(tag, known.tag);
  return { valid, rehash: valid && isOutdated(known, pepper) };
}

type Phc = { memory: number; passes: number; parallelism: number; keyid: string | undefined; salt: Buffer; tag: Buffer };
const form =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})(?:,keyid=([A-Za-z0-9+/]{8}))?\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/;

function parse(stored: string): Phc | undefined {
  const [, memory, passes, parallelism, keyid, salt, tag] = form.exec(stored) ?? [];
  if (!memory || !passes || !parallelism || !salt || !tag) return undefined;
  const phc = {
    memory: +memory,
    passes: +passes,
    parallelism: +parallelism,
    keyid,
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
  // What Argon2 itself would refuse, and more memory than a sign-in may take (1 GiB).
  const sane = phc.passes >= 1 && phc.parallelism >= 1 && phc.memory >= 8 * phc.parallelism && phc.memory <= 1_048_576;
  return sane ? phc : undefined;
}

function isOutdated(known: Phc, pepper: KeyObject | undefined): boolean {
  const same = known.memory === current.memory && known.passes === current.passes && known.parallelism === current.parallelism;
  return !same || known.salt.length !== saltBytes || known.tag.length !== tagBytes || known.keyid !== (pepper && pepperId(pepper));
}

function message(password: string, pepper: KeyObject | undefined): Buffer {
  const text = Buffer.from(normalisePassword(password), 'utf8');
  return pepper ? createHmac('sha256', pepper).update(text).digest() : text;
}

/** Six bytes of SHA-256 of the pepper: tells peppers apart and says nothing about one of 32 random bytes. */
function pepperId(pepper: KeyObject): string {
  return hash('sha256', pepper.export(), 'buffer').subarray(0, 6).toString('base64');
}

function derive(
  message: Buffer,
  nonce: Buffer,
  cost: { memory: number; passes: number; parallelism: number },
  tagLength: number,
): Promise<Buffer> {
  const { memory, passes, parallelism } = cost;
  return new Promise((resolve, reject) => {
    argon2('argon2id', { message, nonce, memory, passes, parallelism, tagLength }, (error, tag) => {
      message.fill(0);
      if (error) reject(error);
      else resolve(tag);
    });
  });
}

/** base64 without padding, as the PHC string format writes it. */
function phc64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/={1,2}$/, '');
}
