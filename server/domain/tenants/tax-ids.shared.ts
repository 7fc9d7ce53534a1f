/** Kinds of tax ID that invoices carry (interface rule 20 §6). */
export const TAX_ID_TYPES = [
  'eu_vat',
  'gb_vat',
  'us_ein',
  'au_abn',
  'nz_gst',
  'ca_bn',
  'ca_gst_hst',
  'ch_vat',
  'no_vat',
  'in_gst',
  'jp_cn',
  'br_cnpj',
  'mx_rfc',
  'sg_gst',
  'za_vat',
  'other',
] as const;
export type TaxIdType = (typeof TAX_ID_TYPES)[number];

/** What is wrong with a tax ID of this kind, as the rest of a sentence; undefined when nothing is. Only kinds with a public checksum are computed. */
export function taxIdProblem(type: TaxIdType, value: string): string | undefined {
  const plain = value.replace(/[ ./-]/g, '');
  if (type === 'au_abn') return isAbn(plain) ? undefined : 'is not a valid ABN: 11 digits with their check digits';
  if (type === 'eu_vat') return euVatProblem(plain);
  return undefined;
}

function euVatProblem(plain: string): string | undefined {
  const [country, number] = [plain.slice(0, 2), plain.slice(2)];
  const rule = EU_VAT[country];
  if (!rule) return 'must start with the country code of an EU member state, such as DE (EL for Greece)';
  if (!rule.form.test(number)) return `doesn't have the form of a VAT number of ${country}`;
  return rule.check && !rule.check(number) ? `is not a valid VAT number of ${country}: its check digits don't match` : undefined;
}

const digitsOf = (text: string): number[] => [...text].map(Number);
const weighted = (digits: readonly number[], weights: readonly number[]): number =>
  weights.reduce((sum, weight, i) => sum + weight * (digits[i] ?? 0), 0);

/** Australian Business Register: weights over the digits with the first lowered by one, divisible by 89. */
function isAbn(text: string): boolean {
  if (!/^[1-9]\d{10}$/.test(text)) return false;
  const [first = 0, ...rest] = digitsOf(text);
  return weighted([first - 1, ...rest], [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) % 89 === 0;
}

/** Luhn's sum, doubling every second digit from the right but one. */
function isLuhn(text: string): boolean {
  const doubled = digitsOf(text)
    .reverse()
    .map((digit, i) => (i % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit));
  return doubled.reduce((a, b) => a + b, 0) % 10 === 0;
}

/** ISO 7064 MOD 11,10. */
function isMod1110(text: string): boolean {
  const product = digitsOf(text.slice(0, -1)).reduce((p, digit) => (2 * ((p + digit) % 10 || 10)) % 11, 10);
  return (11 - product) % 10 === Number(text.at(-1));
}

type Rule = { form: RegExp; check?: (number: string) => boolean };

/**
 * Forms of all member states (Northern Ireland is XI). Check digits of AT, BE, DE, DK, EL, ES, FI, FR, HR, IT, LU, NL, PL, PT and SE; those of the
 * others are not published or exist in several versions, so only their form is judged.
 */
const EU_VAT: Readonly<Record<string, Rule>> = {
  AT: { form: /^U\d{8}$/, check: (n) => isAustrian(digitsOf(n.slice(1))) },
  BE: { form: /^[01]\d{9}$/, check: (n) => 97 - (Number(n.slice(0, 8)) % 97) === Number(n.slice(8)) },
  BG: { form: /^\d{9,10}$/ },
  CY: { form: /^\d{8}[A-Z]$/ },
  CZ: { form: /^\d{8,10}$/ },
  DE: { form: /^[1-9]\d{8}$/, check: isMod1110 },
  DK: { form: /^[1-9]\d{7}$/, check: (n) => weighted(digitsOf(n), [2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0 },
  EE: { form: /^\d{9}$/ },
  EL: { form: /^\d{9}$/, check: (n) => (weighted(digitsOf(n), [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === Number(n[8]) },
  ES: { form: /^[A-Z0-9]\d{7}[A-Z0-9]$/, check: isSpanish },
  FI: { form: /^\d{8}$/, check: (n) => (11 - (weighted(digitsOf(n), [7, 9, 10, 5, 8, 4, 2]) % 11)) % 11 === Number(n[7]) },
  // Keys with letters exist and have a rule of their own.
  FR: {
    form: /^[0-9A-HJ-NP-Z]{2}\d{9}$/,
    check: (n) => !/^\d{2}/.test(n) || (12 + 3 * (Number(n.slice(2)) % 97)) % 97 === Number(n.slice(0, 2)),
  },
  HR: { form: /^\d{11}$/, check: isMod1110 },
  HU: { form: /^\d{8}$/ },
  IE: { form: /^\d[A-Z0-9+*]\d{5}[A-Z]{1,2}$/ },
  IT: { form: /^\d{11}$/, check: isLuhn },
  LT: { form: /^(?:\d{9}|\d{12})$/ },
  LU: { form: /^\d{8}$/, check: (n) => Number(n.slice(0, 6)) % 89 === Number(n.slice(6)) },
  LV: { form: /^\d{11}$/ },
  MT: { form: /^\d{8}$/ },
  NL: { form: /^\d{9}B\d{2}$/, check: isDutch },
  PL: { form: /^\d{10}$/, check: (n) => weighted(digitsOf(n), [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === Number(n[9]) },
  PT: { form: /^\d{9}$/, check: (n) => ((11 - (weighted(digitsOf(n), [9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11) % 10 === Number(n[8]) },
  RO: { form: /^\d{2,10}$/ },
  SE: { form: /^\d{10}(?:0[1-9]|[1-8]\d|9[0-4])$/, check: (n) => isLuhn(n.slice(0, 10)) },
  SI: { form: /^[1-9]\d{7}$/ },
  SK: { form: /^[1-9]\d{9}$/ },
  XI: { form: /^(?:\d{9}|\d{12}|GD\d{3}|HA\d{3})$/ },
};

function isAustrian(digits: readonly number[]): boolean {
  const sum = digits.slice(0, 7).reduce((total, digit, i) => total + (i % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit), 0);
  return (10 - ((sum + 4) % 10)) % 10 === digits[7];
}

/** By the sum of a company's RSIN, or since 2020 modulo 97 over the whole number with its letters as numbers. */
function isDutch(number: string): boolean {
  const sum = weighted(digitsOf(number), [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
  if (sum < 10 && sum === Number(number[8])) return true;
  const numeric = [...`NL${number}`].map((c) => Number.parseInt(c, 36)).join('');
  return BigInt(numeric) % 97n === 1n;
}

const PERSON_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';
const COMPANY_LETTERS = 'JABCDEFGHI';

/** A person's DNI or NIE, or a company's CIF. */
function isSpanish(number: string): boolean {
  const [first = '', last = ''] = [number[0], number.at(-1)];
  if (/\d|[XYZ]/.test(first)) {
    const digits = first.replace(/[XYZ]/, (c) => String('XYZ'.indexOf(c))) + number.slice(1, 8);
    return PERSON_LETTERS[Number(digits) % 23] === last;
  }
  const body = digitsOf(number.slice(1, 8));
  if (/[KLM]/.test(first)) return PERSON_LETTERS[Number(number.slice(1, 8)) % 23] === last;
  const sum = body.reduce((total, digit, i) => total + (i % 2 === 1 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit), 0);
  const control = (10 - (sum % 10)) % 10;
  if (/[PQRSNW]/.test(first)) return COMPANY_LETTERS[control] === last;
  if (/[ABEH]/.test(first)) return String(control) === last;
  return /[CDFGJUV]/.test(first) && (String(control) === last || COMPANY_LETTERS[control] === last);
}
