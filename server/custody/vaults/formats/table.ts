import { alphanumeric } from './alphanumeric.ts';
import { email } from './email.ts';
import type { Format } from './format.ts';
import { generic } from './generic.ts';
import { iban } from './iban.ts';
import { numeric } from './numeric.ts';
import { pan } from './pan.ts';
import { phone } from './phone.ts';
import { ssn } from './ssn.ts';
import { uuid } from './uuid.ts';

/** The formats whose tokens are random and stored (spec 42 §3). */
export const FORMATS = { generic, uuid, pan, ssn, email, phone, iban, numeric, alphanumeric } as const satisfies Record<string, Format>;
export type StoredFormat = keyof typeof FORMATS;
