import { luhn } from '../check-digits.ts';
import { byPattern, digitsOf, type Entity } from './entity.ts';

export const health: readonly Entity[] = [
  {
    entity: 'UK_NHS',
    title: 'UK NHS number',
    group: 'health',
    about: 'Ten digits with a modulus 11 check digit, near the word NHS.',
    example: 'NHS number 943 476 5919',
    format: 'fpe',
    confidence: 0.85,
    validated: true,
    context: ['nhs', 'national health'],
    find: byPattern({ pattern: /(?<![\w-])\d{3}[ -]?\d{3}[ -]?\d{4}(?!-?\w)/g, accepts: (match) => nhs(digitsOf(match)) }),
  },
  {
    entity: 'AU_MEDICARE',
    title: 'Australian Medicare number',
    group: 'health',
    about: 'Ten or eleven digits that begin with 2 to 6, with a check digit, near the word Medicare.',
    example: 'Medicare 2123 45670 1',
    format: 'fpe',
    confidence: 0.8,
    validated: true,
    context: ['medicare'],
    find: byPattern({ pattern: /(?<![\w-])[2-6]\d{3} ?\d{5} ?\d{1,2}(?![\w-])/g, accepts: (match) => medicare(digitsOf(match)) }),
  },
  {
    entity: 'US_NPI',
    title: 'US provider identifier',
    group: 'health',
    about: 'Ten digits that begin with 1 or 2, with the Luhn check digit over the prefix 80840, near the word NPI.',
    example: 'NPI 1234567893',
    format: 'fpe',
    confidence: 0.85,
    validated: true,
    context: ['npi', 'provider identifier', 'national provider'],
    find: byPattern({ pattern: /(?<![\w-])[12]\d{9}(?![\w-])/g, accepts: (match) => luhn(`80840${match}`) }),
  },
  {
    entity: 'US_MBI',
    title: 'US Medicare beneficiary identifier',
    group: 'health',
    about: 'Eleven letters and digits in the form of the Medicare card, near a word such as MBI or Medicare.',
    example: 'MBI 1EG4-TE5-MK73',
    format: 'fpe',
    confidence: 0.8,
    validated: false,
    context: ['mbi', 'medicare', 'beneficiary'],
    find: byPattern({
      pattern:
        /(?<![\w-])[1-9][AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d-?[AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}(?!-?\w)/gi,
    }),
  },
  {
    entity: 'MEDICAL_RECORD_NUMBER',
    title: 'Medical record number',
    group: 'health',
    about: 'Five to ten digits, with up to three letters before them, near a word such as MRN or patient.',
    example: 'MRN: 00483921',
    format: 'fpe',
    confidence: 0.65,
    validated: false,
    context: [
      'mrn',
      'medical record',
      'patient id',
      'patient no',
      'patient number',
      'patient #',
      'chart number',
      'chart no',
      'hospital number',
    ],
    find: byPattern({ pattern: /(?<![\w.-])[A-Z]{0,3}-?\d{5,10}(?!-?\w)/gi }),
  },
];

function nhs(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < 9; i++) sum += Number(digits[i]) * (10 - i);
  const check = (11 - (sum % 11)) % 11;
  return check < 10 && check === Number(digits[9]) && !/^(\d)\1*$/.test(digits);
}

function medicare(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < 8; i++) sum += Number(digits[i]) * ([1, 3, 7, 9, 1, 3, 7, 9][i] as number);
  return sum % 10 === Number(digits[8]);
}
