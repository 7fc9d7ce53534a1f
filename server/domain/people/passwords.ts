import { hashPassword as hash, verifyPassword as verify } from '#server/crypto/password.ts';
import { passwordLength, passwordProblem } from '#server/crypto/password-policy.ts';
import { secretKey } from '#server/crypto/secret-key.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from '#server/platform/env.ts';

const held = processState('password-pepper', (): { key?: ReturnType<typeof secretKey> } => ({}));
function pepper(): ReturnType<typeof secretKey> | undefined {
  if (env.PASSWORD_PEPPER_B64) held.key ??= secretKey(Buffer.from(env.PASSWORD_PEPPER_B64, 'base64'));
  return held.key;
}

/** The hash to store. @throws Refusal invalid, naming `field`, for a password the policy refuses */
export async function acceptPassword(password: string, email: string, field: 'password' | 'new'): Promise<string> {
  const problem = passwordProblem(password, email);
  if (problem) throw new Refusal('invalid', `${field}: ${PROBLEMS[problem]}`);
  return hash(password, pepper());
}

/** Whether it is the password; the same time for an account without one and for no account at all. */
export const checkPassword = (stored: string | null, password: string) => verify(stored, password, pepper());

/** A new hash of a password that was just checked, when the parameters moved on. */
export const rehashPassword = (password: string) => hash(password, pepper());

const PROBLEMS = {
  too_short: `use at least ${passwordLength.min} characters; a short sentence is easy to remember`,
  too_long: `use at most ${passwordLength.max} characters`,
  contains_email: 'leave the name in your email address out of it',
  common: 'this one is too easy to guess; choose something less predictable',
} as const;
