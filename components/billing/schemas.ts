import { z } from 'zod';
import { TAX_ID_TYPES, taxIdProblem } from '#server/domain/tenants/tax-ids.shared.ts';

/** What the form of the tax ID checks before it asks the server; no value clears it. */
export const TaxIdFields = z
  .object({ tax_id_type: z.enum(TAX_ID_TYPES), tax_id_value: z.string().trim().toUpperCase().max(40) })
  .superRefine(({ tax_id_type, tax_id_value }, context) => {
    if (tax_id_value === '') return;
    const problem = /^[A-Z0-9 ./-]{3,40}$/.test(tax_id_value)
      ? taxIdProblem(tax_id_type, tax_id_value)
      : 'must be 3 to 40 letters and digits';
    if (problem) context.addIssue({ code: 'custom', path: ['tax_id_value'], message: problem });
  });
