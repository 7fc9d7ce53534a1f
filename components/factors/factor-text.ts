import type { Person } from '#components/me/use-me.ts';

export type FactorCardProps = {
  factors: Person['factors'];
  /** The person is Owner or Admin somewhere. */
  needsFactor: boolean;
  /** New recovery codes, to be shown once. */
  onCodes: (codes: readonly string[]) => void;
};

export type Passkey = Person['factors']['passkeys'][number];
/** A seed that waits for its first code. */
export type Setup = { secret_base32: string; otpauth_uri: string; qr_svg: string; setup_token: string };

/** What removing the only factor leads to. */
export const lastFactorConsequence = (needsFactor: boolean): string =>
  needsFactor
    ? 'It’s your only second factor. Until you add another, you can’t reveal values or do anything else an Owner or Admin must confirm.'
    : 'It’s your only second factor. Your password or an emailed code will be enough to sign in.';

/** Codes as they are saved in a file or a password manager, one a line. */
export const codesText = (codes: readonly string[]): string => codes.join('\n');
