/** The formats of tokens, as pages and schemas name them (interface rule 42 §3). How they work is `server/custody/vaults/formats`. */
export const TOKEN_FORMATS = ['generic', 'uuid', 'pan', 'ssn', 'email', 'phone', 'iban', 'numeric', 'alphanumeric', 'ff1'] as const;
export type TokenFormat = (typeof TOKEN_FORMATS)[number];

/** Alphabets of ff1 that have a name; any other is written out. */
export const ALPHABETS = {
  digits: '0123456789',
  hex: '0123456789abcdef',
  lower: 'abcdefghijklmnopqrstuvwxyz',
  lower_alphanumeric: '0123456789abcdefghijklmnopqrstuvwxyz',
  alphanumeric: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
} as const;

export type FormatAbout = {
  label: string;
  accepts: string;
  /** What of the value its token shows. */
  kept: string;
  example: { value: string; token: string };
};

/** What a person must know to choose one. */
export const FORMATS_ABOUT: Readonly<Record<TokenFormat, FormatAbout>> = {
  generic: {
    label: 'Generic',
    accepts: 'Any text of up to 64 KiB',
    kept: 'Nothing',
    example: { value: 'passport C01X00T47', token: 'tok_01JD8Z3Q6M4N7P9RSTVWXY0123' },
  },
  uuid: {
    label: 'UUID',
    accepts: 'Any text of up to 64 KiB',
    kept: 'Nothing',
    example: { value: 'passport C01X00T47', token: '5e0c7a52-6f0e-4b1c-9a55-0d2f3c4b5a61' },
  },
  pan: {
    label: 'Card number',
    accepts: 'Card numbers of 13 to 19 digits that pass the Luhn check',
    kept: 'The first 6 and last 4 digits; of 13 and 14 digits the first and the last 4',
    example: { value: '4242 4242 4242 4242', token: '4242428173954242' },
  },
  ssn: {
    label: 'Social Security number',
    accepts: '9 digits, or NNN-NN-NNNN',
    kept: 'The last 4 digits',
    example: { value: '123-45-6789', token: '947-21-6789' },
  },
  email: {
    label: 'Email address',
    accepts: 'Email addresses of up to 254 characters',
    kept: 'The domain',
    example: { value: 'jane.doe@Example.COM', token: 'k3j7x2m4pqw7h5ra@example.com' },
  },
  phone: {
    label: 'Phone number',
    accepts: 'International numbers with + and 8 to 15 digits',
    kept: 'The country code and the last 4 digits',
    example: { value: '+1 (415) 555-9311', token: '+10482739311' },
  },
  iban: {
    label: 'IBAN',
    accepts: 'IBANs whose check digits are right',
    kept: 'The country and the last 4 characters',
    example: { value: 'GB82 WEST 1234 5698 7654 32', token: 'GB75QKVN40718352205432' },
  },
  numeric: { label: 'Digits', accepts: '1 to 64 digits', kept: 'The length', example: { value: '20240917', token: '83105526' } },
  alphanumeric: {
    label: 'Letters and digits',
    accepts: '1 to 128 letters, digits and separators',
    kept: 'The shape: digits, letters with their case, and separators',
    example: { value: 'AB-1234/x', token: 'QT-9075/m' },
  },
  ff1: {
    label: 'Transformed (FF1)',
    accepts: "Text of the vault's alphabet, long enough to have a million others of its length",
    kept: 'The length and the alphabet',
    example: { value: '0123456789', token: '6124200773' },
  },
};

/** Formats whose tokens end like their value. */
export const KEEPS_LAST4: ReadonlySet<TokenFormat> = new Set(['pan', 'ssn', 'phone', 'iban']);
