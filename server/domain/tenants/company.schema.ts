import { z } from 'zod';
import { COUNTRY_CODES } from './countries.shared.ts';
import { TAX_ID_TYPES, taxIdProblem } from './tax-ids.shared.ts';

/** Where a workspace's invoices go (interface rule 20 §6). */
export const COMPANY_FIELDS = ['country', 'address', 'city', 'postal_code', 'tax_id_type', 'tax_id_value'] as const;
export type CompanyField = (typeof COMPANY_FIELDS)[number];
export type Company = Record<CompanyField, string | null>;

const line = (max: number) =>
  z
    .string('must be text')
    .trim()
    .max(max, `must be at most ${max} characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters')
    .transform((text) => (text === '' ? null : text));

const COUNTRIES: ReadonlySet<string> = new Set(COUNTRY_CODES);

/** One rule per field; null clears. */
const fields = {
  country: z
    .string('must be text')
    .trim()
    .toUpperCase()
    .refine((code) => COUNTRIES.has(code), 'must be a country code of two letters (ISO 3166-1), such as DE'),
  address: line(200),
  city: line(100),
  postal_code: line(20),
  tax_id_type: z.enum(TAX_ID_TYPES, `must be one of ${TAX_ID_TYPES.join(', ')}`),
  tax_id_value: z
    .string('must be text')
    .trim()
    .toUpperCase()
    .regex(/^[A-Z0-9 ./-]{3,40}$/, 'must be 3 to 40 letters, digits, spaces, dots, slashes or hyphens'),
} as const satisfies Record<CompanyField, z.ZodType>;

/**
 * The company details after a change, or the first thing that is wrong with it, starting with the field's name. Fields that are not given keep what they
 * were; a tax ID has a type and a value, or neither.
 */
export function changedCompany(
  before: Company,
  given: Readonly<Partial<Record<CompanyField, unknown>>>,
): { ok: true; after: Company } | { ok: false; problem: string } {
  const after = { ...before };
  for (const field of COMPANY_FIELDS) {
    const value = given[field];
    if (value === undefined) continue;
    const read = value === null ? { success: true as const, data: null } : fields[field].safeParse(value);
    if (!read.success) return { ok: false, problem: `${field} ${read.error.issues[0]?.message ?? 'is invalid'}` };
    after[field] = read.data;
  }
  const { tax_id_type: type, tax_id_value: number } = after;
  if ((type === null) !== (number === null))
    return { ok: false, problem: type === null ? 'tax_id_value requires tax_id_type' : 'tax_id_type requires tax_id_value' };
  // `fields` has let nothing else into the column.
  const wrong = number === null ? undefined : taxIdProblem(type as (typeof TAX_ID_TYPES)[number], number);
  return wrong ? { ok: false, problem: `tax_id_value ${wrong}` } : { ok: true, after };
}
