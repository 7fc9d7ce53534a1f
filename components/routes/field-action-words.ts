import type { FieldActionName } from '#server/domain/routes/actions/rules.shared.ts';

export const ACTION_WORDS: Readonly<Record<FieldActionName, { label: string; detail: string }>> = {
  encrypt: { label: 'Encrypt', detail: 'Seals the value with a crypto key' },
  decrypt: { label: 'Decrypt', detail: 'Opens values that were sealed with a crypto key' },
  tokenize: { label: 'Tokenize', detail: 'Keeps the value in a vault and passes on a token' },
  detokenize: { label: 'Detokenize', detail: 'Puts the value of a vault in place of its token' },
  sign: { label: 'Sign', detail: 'Adds a signature of the body or of one value' },
  mask: { label: 'Mask', detail: 'Hides the value for good' },
};

export const TYPE_WORDS = {
  'application/json': 'JSON',
  'application/x-www-form-urlencoded': 'form',
  'application/x-ndjson': 'JSON lines',
} as const;

type Placed = { direction: string; location: string; content_type: keyof typeof TYPE_WORDS | null; key_name: string | null; mode: string };

/** Where an action works and with what: "request · JSON · app-key". */
export const placeInWords = ({ direction, location, content_type, key_name, mode }: Placed): string =>
  [direction, content_type ? TYPE_WORDS[content_type] : location, key_name, mode === 'lenient' ? 'lenient' : null]
    .filter(Boolean)
    .join(' · ');
