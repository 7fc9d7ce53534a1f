import { invalid } from '#server/kernel/errors.ts';
import { isNumber, LosslessNumber, valueText } from '#server/kernel/lossless-json.ts';
import { cardExpiry } from './cards.ts';
import { alphabetMismatch } from './formats/ff1-alphabet.ts';
import { FormatMismatch } from './formats/format.ts';
import { FORMATS } from './formats/table.ts';
import type { UsableVault } from './vaults.ts';

/** One value to tokenize (interface rule 42 §5.1). */
export type TokenizeItem = {
  value: string;
  metadata?: Record<string, unknown> | null | undefined;
  /** Undefined: the vault's default. Null: no expiry. */
  ttl_seconds?: number | null | undefined;
  card_exp_month?: number | undefined;
  card_exp_year?: number | undefined;
  /** A token that the caller chose, such as one that another vault issued. */
  token?: string | undefined;
  /** The time the item was asked for; the token's life is counted from it. */
  now?: Date | undefined;
};

/** What the nth value is called in the caller's input. */
export type Naming = (i: number) => string;

export type CheckedItem = {
  /** What equal values have in common. */
  normalised: string;
  /** What detokenize gives back. */
  stored: string;
  metadata: Record<string, unknown> | null;
  expires_at: Date | null;
  card_exp: string | null;
  token: string | null;
};

const METADATA_BYTES = 4_096;

/** A value that fits its vault. @throws Refusal validation_error with the field, after `place`; it never shows the value */
export function checkedItem(vault: UsableVault, item: TokenizeItem, place?: string): CheckedItem {
  const refuse = (field: string, problem: string) => invalid(place === undefined ? field : `${place}: ${field}`, problem);
  const { value, metadata = null, token = null } = item;
  if (!value.isWellFormed()) throw refuse('value', 'must be valid Unicode');
  const { normalised, stored } = read(vault, value, refuse);
  if (metadata !== null) {
    if (Buffer.byteLength(JSON.stringify(metadata)) > METADATA_BYTES) throw refuse('metadata', 'must be at most 4 KiB');
    if (holds(metadata, spellingsOf([value, normalised, stored])))
      throw refuse('metadata', 'must not contain the value: metadata is stored in clear and can be searched');
  }
  const storesNothing = vault.custody_mode === 'dual' || vault.token_format === 'ff1';
  if (token !== null) {
    if (storesNothing) throw refuse('token', "can't be chosen in a vault that makes its tokens from the value");
    if (token === value || token === normalised || token === stored) throw refuse('token', 'must not be the value');
  }
  if (vault.token_format === 'ff1' && metadata !== null) throw refuse('metadata', "can't be kept: a vault of format ff1 stores no tokens");
  return { normalised, stored, metadata, token, expires_at: expiryOf(vault, item, refuse), card_exp: cardExpiryOf(vault, item, refuse) };
}

type Refuse = (field: string, problem: string) => Error;

function read(vault: UsableVault, value: string, refuse: Refuse): { normalised: string; stored: string } {
  try {
    if (vault.token_format === 'ff1') {
      const problem = alphabetMismatch(vault, value);
      if (problem) throw refuse('value', problem);
      return { normalised: value, stored: value };
    }
    const format = FORMATS[vault.token_format];
    const normalised = format.normalise(value);
    return { normalised, stored: 'asSent' in format ? value : normalised };
  } catch (error) {
    throw error instanceof FormatMismatch ? refuse('value', error.message) : error;
  }
}

/** Whether a text stands anywhere in JSON, as a value or a name. */
/** The texts, and those that stand for the numbers they write: 4.2e15 is 4200000000000000 in a column. */
const spellingsOf = (texts: readonly string[]): ReadonlySet<string> =>
  new Set([...texts, ...texts.filter((text) => /^\d+$/.test(text)).map((digits) => valueText(new LosslessNumber(digits)))]);

function holds(json: unknown, texts: ReadonlySet<string>): boolean {
  if (typeof json === 'string') return texts.has(json);
  if (isNumber(json)) return texts.has(valueText(json));
  if (typeof json !== 'object' || json === null) return false;
  return Object.entries(json).some(([name, member]) => (!Array.isArray(json) && texts.has(name)) || holds(member, texts));
}

function expiryOf(vault: UsableVault, { ttl_seconds, now }: TokenizeItem, refuse: Refuse): Date | null {
  const ttl = ttl_seconds === undefined ? vault.default_ttl_seconds : ttl_seconds;
  if (vault.token_format === 'ff1' && ttl !== null) throw refuse('ttl_seconds', "can't be kept: tokens of format ff1 don't expire");
  return ttl === null ? null : new Date((now ?? new Date()).getTime() + ttl * 1_000);
}

function cardExpiryOf(vault: UsableVault, { card_exp_month: month, card_exp_year: year }: TokenizeItem, refuse: Refuse): string | null {
  if (month === undefined && year === undefined) return null;
  if (vault.token_format !== 'pan')
    throw refuse(month === undefined ? 'card_exp_year' : 'card_exp_month', 'is only for vaults of format pan');
  if (month === undefined || year === undefined)
    throw refuse(
      month === undefined ? 'card_exp_month' : 'card_exp_year',
      'is required: send both card_exp_month and card_exp_year, or neither',
    );
  return cardExpiry(year, month);
}
