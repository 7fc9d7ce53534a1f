import { isBase58Checked } from '#server/crypto/pii-keys.ts';
import { luhn, mod97, weighted } from '../check-digits.ts';
import { isBech32Checked } from './bech32.ts';
import { alphanumericsOf, byPattern, digitsOf, type Entity, type Range } from './entity.ts';

export const financial: readonly Entity[] = [
  {
    entity: 'CREDIT_CARD',
    title: 'Card number',
    group: 'financial',
    about: '13 to 19 digits that begin with 2 to 6, with spaces or dashes or without. The Luhn check digit must be right.',
    example: 'Card 4111 1111 1111 1111',
    format: 'pan',
    confidence: 0.95,
    validated: true,
    find: byPattern({ pattern: /(?<![\d.])(?<!0x)[2-6]\d{2,3}(?:[ -]?\d){10,15}(?![a-f]{2})/gi, accepts: cardNumber }),
  },
  {
    entity: 'IBAN_CODE',
    title: 'IBAN',
    group: 'financial',
    about: 'An account number of the length of its country, whose remainder modulo 97 is 1.',
    example: 'IBAN GB82 WEST 1234 5698 7654 32',
    format: 'fpe',
    confidence: 0.95,
    validated: true,
    find: byPattern({ pattern: /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}/g, accepts: iban }),
  },
  {
    entity: 'US_BANK_ROUTING',
    title: 'US bank routing number',
    group: 'financial',
    about: 'Nine digits with the 3-7-1 checksum, near a word such as routing or ABA.',
    example: 'Routing number 021000021',
    format: 'fpe',
    confidence: 0.8,
    validated: true,
    context: ['routing', 'aba', 'rtn', 'transit number', 'bank number', 'ach'],
    find: byPattern({
      pattern: /(?<![\w-])\d{9}(?![\w-])/g,
      accepts: (digits) => Number(digits) > 0 && weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0,
    }),
  },
  {
    entity: 'CRYPTO_WALLET',
    title: 'Cryptocurrency address',
    group: 'financial',
    about: 'Base58 and bech32 addresses of Bitcoin and its relatives, with a correct checksum.',
    example: 'Send it to 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
    format: 'generic',
    confidence: 0.95,
    validated: true,
    find: byPattern({
      pattern:
        /(?<![A-Za-z0-9])(?:[13LMD][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc|tb|ltc)1[02-9ac-hj-np-z]{11,71}|(?:BC|TB|LTC)1[02-9AC-HJ-NP-Z]{11,71})(?![A-Za-z0-9])/g,
      accepts: (text) => isBase58Checked(text) || isBech32Checked(text),
    }),
  },
];

/** The longest part, in whole groups of digits, that is a card number: other numbers may follow after a space. */
function cardNumber(match: string, start: number, text: string): Range | false {
  for (let end = start + match.length; end > start + 12; end--) {
    if (!isDigit(text, end - 1) || isDigit(text, end)) continue;
    const digits = digitsOf(text.slice(start, end));
    if (digits.length < 13) return false;
    if (luhn(digits) && !/^(\d)\1*$/.test(digits)) return { start, end };
  }
  return false;
}

const isDigit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code > 47 && code < 58;
};

function iban(match: string, start: number, text: string): Range | false {
  const length = IBAN_LENGTHS[match.slice(0, 2).toUpperCase()];
  if (length === undefined) return false;
  let end = start;
  for (let count = 0; count < length; end++) {
    if (end >= start + match.length) return false;
    if (text[end] !== ' ') count++;
  }
  if (/[A-Za-z0-9]/.test(text[end] ?? '')) return false;
  const code = alphanumericsOf(text.slice(start, end));
  return mod97(code.slice(4) + code.slice(0, 4)) === 1 ? { start, end } : false;
}

/** SWIFT IBAN registry, release 99. */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 ' +
    'GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 ' +
    'MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
