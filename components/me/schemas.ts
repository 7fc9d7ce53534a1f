import { z } from 'zod';
import { ChangeEmail } from '#server/domain/people/schema.ts';
import { TAX_ID_TYPES, taxIdProblem } from '#server/domain/tenants/tax-ids.shared.ts';

// What the forms of this folder check before they ask the server. They are fetched when their page has settled.

export const ProfileFields = z.object({ full_name: z.string().trim().min(1, 'is required').max(120), timezone: z.string().nullable() });
export const PasswordChange = z.object({ current: z.string().min(1, 'is required'), new: z.string().min(1, 'is required') });
export const EmailChange = ChangeEmail.extend({ password: z.string().optional() });

/** The server judges again, field by field. */
export const CompanyFields = z
  .object({
    country: z.string(),
    address: z.string().trim().max(200),
    city: z.string().trim().max(100),
    postal_code: z.string().trim().max(20),
    tax_id_type: z.enum(TAX_ID_TYPES),
    tax_id_value: z.string().trim().toUpperCase().max(40),
  })
  .superRefine(({ tax_id_type, tax_id_value }, context) => {
    const problem = tax_id_value === '' ? undefined : taxIdProblem(tax_id_type, tax_id_value);
    if (problem) context.addIssue({ code: 'custom', path: ['tax_id_value'], message: problem });
  });
