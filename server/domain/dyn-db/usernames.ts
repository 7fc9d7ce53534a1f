import { randomBase32, randomOf } from '#server/crypto/random.ts';

/** Begins the name of every user that is minted, so that those left behind can be found (interface rule 44 §4.4). */
export const MINTED_PREFIX = 'svc_';

const MINTED = /^svc_[a-z0-9]{1,9}_[a-z2-7]{10}_[0-9a-z]{6,7}$/;

/** A new database user's name: svc_<role>_<10 random>_<issued in base 36>, 32 characters of a-z 0-9 _ at most, MySQL's limit. */
export function mintedUsername(role: string, issuedAt: Date): string {
  const part = role
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 9);
  return `${MINTED_PREFIX}${part || 'role'}_${randomBase32(10, 'lower')}_${Math.floor(issuedAt.getTime() / 1_000).toString(36)}`;
}

/** Whether a name on a server has the form of those minted here. */
export const isMintedUsername = (name: string): boolean => MINTED.test(name);

const CLASSES = [/[A-Z]/, /[a-z]/, /[0-9]/, /[_-]/];
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';

/**
 * A new password of 32 characters: uniform over those of A-Z a-z 0-9 _ - with an upper case letter, a lower case letter, a digit and a symbol, which
 * password policies of servers ask for. Others are drawn again (about two of five), so none is likelier than another.
 */
export function mintedPassword(): string {
  for (;;) {
    const password = randomOf(ALPHABET, 32);
    if (CLASSES.every((each) => each.test(password))) return password;
  }
}
