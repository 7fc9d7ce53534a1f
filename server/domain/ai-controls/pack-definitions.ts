import type { PACKS, PII_ACTIONS, TOKEN_FORMATS } from './schema.ts';

export type Pack = (typeof PACKS)[number];
type Action = (typeof PII_ACTIONS)[number];

export type PackRecognizer = {
  name: string;
  description: string;
  kind: 'regex';
  pattern: string;
  context_words: readonly string[];
  confidence: number;
  action: Action;
  format: (typeof TOKEN_FORMATS)[number] | null;
};

type Definition = {
  name: string;
  description: string;
  /** What built-in detectors do under the pack's policy. */
  default_action: Action;
  /** Built-in entities that the regulation is about. All built-in detectors run in any case. */
  entities: readonly string[];
  recognizers: readonly PackRecognizer[];
};

const recognizer = (
  name: string,
  description: string,
  pattern: string,
  context_words: readonly string[],
  action: Action = 'redact',
): PackRecognizer => ({
  name,
  description,
  kind: 'regex',
  pattern,
  context_words,
  confidence: 0.85,
  action,
  format: action === 'tokenize' ? 'generic' : null,
});

/** What each regulation asks for beyond the built-in detectors. A starting point, not legal advice. */
export const PACK_DEFINITIONS: Readonly<Record<Pack, Definition>> = {
  hipaa: {
    name: 'HIPAA',
    description: 'Identifiers of patients, under the safe harbor list of 45 CFR 164.514(b)(2).',
    default_action: 'tokenize',
    entities: [
      'EMAIL_ADDRESS',
      'PHONE_NUMBER',
      'US_SSN',
      'DATE_OF_BIRTH',
      'IP_ADDRESS',
      'MEDICAL_RECORD_NUMBER',
      'US_NPI',
      'US_MBI',
      'DRIVER_LICENSE',
    ],
    recognizers: [
      recognizer(
        'hipaa_health_plan_number',
        'Health plan beneficiary numbers',
        '\\b[A-Z]{2,4}[ -]?[0-9]{7,12}\\b',
        ['member id', 'subscriber', 'health plan', 'policy number', 'insurance id'],
        'tokenize',
      ),
      recognizer(
        'hipaa_account_number',
        'Account numbers of patients',
        '\\b[0-9]{6,12}\\b',
        ['account number', 'acct', 'patient account', 'billing account'],
        'tokenize',
      ),
      recognizer(
        'hipaa_device_serial',
        'Serial numbers of devices and implants',
        '\\b[A-Z0-9]{2,6}-?[0-9]{5,12}\\b',
        ['serial number', 'device serial', 'implant', 'udi'],
        'tokenize',
      ),
      recognizer('hipaa_vehicle_identifier', 'Vehicle identification numbers', '\\b[A-HJ-NPR-Z0-9]{17}\\b', ['vin', 'vehicle'], 'tokenize'),
      recognizer('hipaa_diagnosis_code', 'Diagnosis codes of ICD-10-CM', '\\b[A-TV-Z][0-9][0-9AB](?:\\.[0-9A-Z]{1,4})?\\b', [
        'icd',
        'diagnosis',
        'dx',
      ]),
    ],
  },
  gdpr: {
    name: 'GDPR',
    description: 'Personal data under Article 4(1), with identifiers of the member states.',
    default_action: 'tokenize',
    entities: [
      'EMAIL_ADDRESS',
      'PHONE_NUMBER',
      'IP_ADDRESS',
      'DATE_OF_BIRTH',
      'IBAN_CODE',
      'ES_NIF',
      'IT_FISCAL_CODE',
      'PL_PESEL',
      'DE_TAX_ID',
    ],
    recognizers: [
      recognizer(
        'gdpr_vat_number',
        'VAT numbers of the Union',
        '\\b(?:AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK)[ ]?[0-9A-Z]{8,12}\\b',
        ['vat', 'tva', 'iva', 'ust', 'mwst', 'btw'],
        'tokenize',
      ),
      recognizer(
        'gdpr_identity_card',
        'Numbers of identity cards and passports',
        '\\b[A-Z0-9]{2}[0-9]{6,7}[A-Z0-9]?\\b',
        ['identity card', 'id card', 'personalausweis', 'carte d\u2019identit\u00e9', 'dni', 'passport', 'reisepass'],
        'tokenize',
      ),
      recognizer(
        'gdpr_french_social_security',
        'French social security numbers',
        '\\b[12][ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[0-9AB]{2}[ ]?[0-9]{3}[ ]?[0-9]{3}(?:[ ]?[0-9]{2})?\\b',
        ['s\u00e9curit\u00e9 sociale', 'nir', 'insee', 'social security'],
        'tokenize',
      ),
      recognizer(
        'gdpr_dutch_citizen_number',
        'Dutch citizen service numbers',
        '\\b[0-9]{9}\\b',
        ['bsn', 'burgerservicenummer', 'sofinummer'],
        'tokenize',
      ),
    ],
  },
  'pci-dss': {
    name: 'PCI DSS',
    description: 'Cardholder data and sensitive authentication data, under requirements 3.3 and 3.4.',
    default_action: 'redact',
    entities: ['CREDIT_CARD', 'IBAN_CODE', 'US_BANK_ROUTING'],
    recognizers: [
      recognizer('pci_card_verification', 'Card verification codes', '\\b[0-9]{3,4}\\b', [
        'cvv',
        'cvc',
        'cvv2',
        'cid',
        'security code',
        'card verification',
      ]),
      recognizer('pci_card_expiry', 'Expiry dates of cards', '\\b(?:0[1-9]|1[0-2])[ ]?[/-][ ]?(?:20)?[2-4][0-9]\\b', [
        'exp',
        'expires',
        'expiry',
        'valid thru',
        'valid until',
      ]),
      recognizer(
        'pci_track_data',
        'Data of the magnetic stripe',
        '%B[0-9]{13,19}\\^[A-Za-z /.-]{2,26}\\^[0-9]{4,40}|;[0-9]{13,19}=[0-9]{4,40}',
        [],
      ),
      recognizer('pci_pin', 'PINs and PIN blocks', '\\b(?:[0-9]{4,6}|[0-9A-F]{16})\\b', ['pin', 'pin block', 'pin code']),
    ],
  },
  soc2: {
    name: 'SOC 2',
    description: 'Confidential information of the company and its systems, under the criteria C1.1 and CC6.1.',
    default_action: 'redact',
    entities: ['CREDENTIAL', 'EMAIL_ADDRESS', 'IP_ADDRESS', 'MAC_ADDRESS'],
    recognizers: [
      recognizer(
        'soc2_connection_string',
        'Connection strings with a password',
        '\\b(?:postgres(?:ql)?|mysql|mongodb(?:\\+srv)?|rediss?|amqps?)://[^ \\s:/@]{1,64}:[^ \\s@]{1,128}@[^ \\s/]{1,128}',
        [],
      ),
      recognizer(
        'soc2_private_host',
        'Names of internal hosts',
        '\\b[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?\\.(?:internal|corp|intranet|lan|svc\\.cluster\\.local)\\b',
        [],
        'tokenize',
      ),
      recognizer(
        'soc2_cloud_account',
        'Account numbers of cloud providers',
        '\\b[0-9]{12}\\b',
        ['aws account', 'account id', 'arn:aws'],
        'tokenize',
      ),
      recognizer(
        'soc2_employee_id',
        'Numbers of employees',
        '\\b(?:E|EMP|W)-?[0-9]{4,8}\\b',
        ['employee', 'staff', 'badge', 'personnel'],
        'tokenize',
      ),
    ],
  },
};
