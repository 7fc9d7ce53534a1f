import { luhn, mod11and10, verhoeff, weighted } from '../check-digits.ts';
import { alphanumericsOf, byPattern, digitsOf, type Entity } from './entity.ts';

const SSN_WORDS = ['ssn', 'social security', 'soc sec', 'ss#'];

export const government: readonly Entity[] = [
  {
    entity: 'US_SSN',
    title: 'US social security number',
    group: 'government',
    about: 'ddd-dd-dddd, or nine digits near a word such as SSN. Numbers that are never issued are ignored.',
    example: 'SSN 123-45-6789',
    format: 'ssn',
    confidence: 0.9,
    validated: true,
    find: byPattern({ pattern: /(?<![\w-])\d{3}-\d{2}-\d{4}(?!-?\w)/g, hint: '-', accepts: (match) => issuedSsn(digitsOf(match)) }),
  },
  {
    entity: 'US_SSN',
    title: 'US social security number',
    group: 'government',
    about: '',
    example: 'His social security number is 123456789.',
    format: 'ssn',
    confidence: 0.8,
    validated: true,
    context: SSN_WORDS,
    find: byPattern({ pattern: /(?<![\w-])\d{3} ?\d{2} ?\d{4}(?!-?\w)/g, accepts: (match) => issuedSsn(digitsOf(match)) }),
  },
  {
    entity: 'US_ITIN',
    title: 'US individual taxpayer number',
    group: 'government',
    about: '9dd-dd-dddd with a middle group that is in use.',
    example: 'ITIN 912-70-1234',
    format: 'ssn',
    confidence: 0.85,
    validated: true,
    find: byPattern({
      pattern: /(?<![\w-])9\d{2}-\d{2}-\d{4}(?!-?\w)/g,
      hint: '-',
      accepts: (match) => {
        const group = Number(match.slice(4, 6));
        return (group >= 50 && group <= 65) || (group >= 70 && group <= 88) || (group >= 90 && group <= 92) || (group >= 94 && group <= 99);
      },
    }),
  },
  {
    entity: 'UK_NINO',
    title: 'UK National Insurance number',
    group: 'government',
    about: 'Two letters in use as a prefix, six digits and a letter from A to D.',
    example: 'NI number AB 12 34 56 C',
    format: 'fpe',
    confidence: 0.85,
    validated: false,
    find: byPattern({
      pattern: /(?<![A-Za-z0-9])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Za-z0-9])/gi,
      accepts: (match) => !['BG', 'GB', 'KN', 'NK', 'NT', 'TN', 'ZZ'].includes(match.slice(0, 2).toUpperCase()),
    }),
  },
  {
    entity: 'AU_TFN',
    title: 'Australian tax file number',
    group: 'government',
    about: 'Eight or nine digits with the check digit of the tax office, near a word such as TFN.',
    example: 'TFN 123 456 782',
    format: 'fpe',
    confidence: 0.8,
    validated: true,
    context: ['tfn', 'tax file'],
    find: byPattern({ pattern: /(?<![\w-])\d{2,3} ?\d{3} ?\d{3}(?![\w-])/g, accepts: (match) => australianTaxFile(digitsOf(match)) }),
  },
  {
    entity: 'CA_SIN',
    title: 'Canadian social insurance number',
    group: 'government',
    about: 'Nine digits with the Luhn check digit, near a word such as SIN.',
    example: 'SIN 130 692 544',
    format: 'fpe',
    confidence: 0.8,
    validated: true,
    context: ['sin', 'social insurance', 'assurance sociale', 'nas'],
    find: byPattern({ pattern: /(?<![\w-])[1-9]\d{2}[ -]?\d{3}[ -]?\d{3}(?!-?\w)/g, accepts: (match) => luhn(digitsOf(match)) }),
  },
  {
    entity: 'ES_NIF',
    title: 'Spanish NIF or NIE',
    group: 'government',
    about: 'Eight digits, or X, Y or Z and seven digits, with the right control letter.',
    example: 'DNI 12345678Z',
    format: 'fpe',
    confidence: 0.9,
    validated: true,
    find: byPattern({ pattern: /(?<![A-Za-z0-9])(?:\d{8}|[XYZ]-?\d{7})-?[A-HJ-NP-TV-Z](?![A-Za-z0-9])/gi, accepts: spanish }),
  },
  {
    entity: 'IT_FISCAL_CODE',
    title: 'Italian fiscal code',
    group: 'government',
    about: '16 letters and digits with the right control letter.',
    example: 'Codice fiscale RSSMRA85T10A562S',
    format: 'fpe',
    confidence: 0.95,
    validated: true,
    find: byPattern({
      pattern: /(?<![A-Za-z0-9])[A-Z]{6}[\dLMNP-V]{2}[A-EHLMPRST][\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z](?![A-Za-z0-9])/gi,
      accepts: (match) => italian(match.toUpperCase()),
    }),
  },
  {
    entity: 'PL_PESEL',
    title: 'Polish PESEL',
    group: 'government',
    about: 'Eleven digits with a date of birth and a check digit, near the word PESEL.',
    example: 'PESEL 44051401359',
    format: 'fpe',
    confidence: 0.85,
    validated: true,
    context: ['pesel'],
    find: byPattern({ pattern: /(?<![\w-])\d{11}(?![\w-])/g, accepts: polish }),
  },
  {
    entity: 'DE_TAX_ID',
    title: 'German tax number',
    group: 'government',
    about: 'Eleven digits with an ISO 7064 check digit, near a word such as Steuer-ID.',
    example: 'Steuer-ID 86 095 742 719',
    format: 'fpe',
    confidence: 0.8,
    validated: true,
    context: ['steuer', 'idnr', 'tin', 'tax id', 'tax identification', 'tax number'],
    find: byPattern({
      pattern: /(?<![\w-])[1-9]\d ?\d{3} ?\d{3} ?\d{3}(?![\w-])/g,
      accepts: (match) => german(digitsOf(match)),
    }),
  },
  {
    entity: 'IN_AADHAAR',
    title: 'Indian Aadhaar number',
    group: 'government',
    about: 'Twelve digits with the Verhoeff check digit, near a word such as Aadhaar.',
    example: 'Aadhaar 2345 6789 0124',
    format: 'fpe',
    confidence: 0.85,
    validated: true,
    context: ['aadhaar', 'aadhar', 'adhaar', 'uidai', 'uid'],
    find: byPattern({ pattern: /(?<![\w-])[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}(?!-?\w)/g, accepts: (match) => verhoeff(digitsOf(match)) }),
  },
  {
    entity: 'SG_NRIC_FIN',
    title: 'Singapore NRIC or FIN',
    group: 'government',
    about: 'S, T, F, G or M, seven digits and the right check letter.',
    example: 'NRIC S1234567D',
    format: 'fpe',
    confidence: 0.9,
    validated: true,
    find: byPattern({
      pattern: /(?<![A-Za-z0-9])[STFGM]\d{7}[A-Z](?![A-Za-z0-9])/gi,
      accepts: (match) => singaporean(match.toUpperCase()),
    }),
  },
  {
    entity: 'NZ_IRD',
    title: 'New Zealand IRD number',
    group: 'government',
    about: 'Eight or nine digits with the check digit of Inland Revenue, near a word such as IRD.',
    example: 'IRD number 49-091-850',
    format: 'fpe',
    confidence: 0.8,
    validated: true,
    context: ['ird', 'inland revenue'],
    find: byPattern({ pattern: /(?<![\w-])\d{2,3}[ -]?\d{3}[ -]?\d{3}(?!-?\w)/g, accepts: (match) => newZealand(digitsOf(match)) }),
  },
  {
    entity: 'US_PASSPORT',
    title: 'US passport number',
    group: 'government',
    about: 'Nine digits, or a letter and eight digits, near the word passport.',
    example: 'Passport no. 340020013',
    format: 'fpe',
    confidence: 0.6,
    validated: false,
    context: ['passport'],
    find: byPattern({ pattern: /(?<![\w-])(?:\d{9}|[A-Z]\d{8})(?!-?\w)/gi }),
  },
  {
    entity: 'UK_PASSPORT',
    title: 'UK passport number',
    group: 'government',
    about: 'Nine digits near the words UK passport or British passport.',
    example: 'British passport 925076473',
    format: 'fpe',
    confidence: 0.65,
    validated: false,
    context: ['uk passport', 'british passport', 'hm passport', 'united kingdom passport', 'passport (uk)', 'hmpo'],
    find: byPattern({ pattern: /(?<![\w-])\d{9}(?!-?\w)/g }),
  },
  {
    entity: 'DRIVER_LICENSE',
    title: 'Driving licence number',
    group: 'government',
    about: 'Letters and digits in the forms of US states and the United Kingdom, near words such as driver license.',
    example: "Driver's license D1234567",
    format: 'fpe',
    confidence: 0.6,
    validated: false,
    context: [
      'driver license',
      'driver licence',
      "driver's licen",
      'drivers licen',
      'driving licen',
      'dl number',
      'dl no',
      'dl#',
      'dvla',
      'permis de conduire',
    ],
    find: byPattern({
      pattern: /(?<![\w-])(?:[A-Z]{1,3}[ -]?\d{3,14}(?:-\d{2,6}){0,3}|\d{7,12}|[A-Z9]{5}\d{6}[A-Z9]{2}\d[A-Z]{2})(?!-?\w)/gi,
      accepts: (match) => digitsOf(match).length >= 5,
    }),
  },
];

const issuedSsn = (digits: string): boolean =>
  !/^(?:000|666|9)/.test(digits) && digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000' && !/^(\d)\1*$/.test(digits);

function australianTaxFile(digits: string): boolean {
  if (digits.length === 9) return Number(digits) > 0 && weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0;
  return digits.length === 8 && Number(digits) > 0 && weighted(digits, [10, 7, 8, 4, 6, 3, 5, 1]) % 11 === 0;
}

function spanish(match: string): boolean {
  const code = alphanumericsOf(match);
  const number = code.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23] === code.at(-1);
}

/** The control letter of the Italian fiscal code: other values in odd places than in even ones (decree of 23 December 1976). */
function italian(code: string): boolean {
  let sum = 0;
  for (let i = 0; i < 15; i++) {
    const character = code[i] as string;
    const value = /\d/.test(character) ? Number(character) : character.charCodeAt(0) - 65;
    sum += i % 2 === 1 ? value : (ITALIAN_ODD[value] as number);
  }
  return String.fromCharCode(65 + (sum % 26)) === code[15];
}
const ITALIAN_ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** The month carries the century: 80 is added for the 1800s, 20 for the 2000s and so on. */
function polish(digits: string): boolean {
  const month = Number(digits.slice(2, 4)) % 20;
  const day = Number(digits.slice(4, 6));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
}

/** Of the first ten digits exactly one occurs twice or three times. */
function german(digits: string): boolean {
  const counts = new Map<string, number>();
  for (const digit of digits.slice(0, 10)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] as number) <= 3 && mod11and10(digits);
}

function singaporean(code: string): boolean {
  const first = code[0] as string;
  const offset = first === 'T' || first === 'G' ? 4 : first === 'M' ? 3 : 0;
  const rest = (weighted(code.slice(1, 8), [2, 7, 6, 5, 4, 3, 2]) + offset) % 11;
  const letters = first === 'S' || first === 'T' ? 'JZIHGFEDCBA' : first === 'M' ? 'XWUTRQPNJLK' : 'XWUTRQPNMLK';
  return letters[first === 'M' ? 10 - rest : rest] === code[8];
}

/** Modulus 11 with a second set of weights when the first gives ten (Inland Revenue, resident withholding tax specification). */
function newZealand(digits: string): boolean {
  const padded = digits.padStart(9, '0');
  if (digits.length < 8 || Number(digits) < 10_000_000 || Number(digits) > 150_000_000) return false;
  for (const weights of [
    [3, 2, 7, 6, 5, 4, 3, 2],
    [7, 4, 3, 2, 5, 2, 7, 6],
  ]) {
    const rest = weighted(padded, weights) % 11;
    const check = rest === 0 ? 0 : 11 - rest;
    if (check < 10) return check === Number(padded[8]);
  }
  return false;
}
