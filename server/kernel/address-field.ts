import { z } from 'zod';
import { canonicalAddress } from './address.ts';

/** An IP address or CIDR range as a caller writes it; refused with what is wrong. Services store its canonical spelling. */
export const addressRange = () =>
  z
    .string()
    .max(100)
    .superRefine((given, context) => {
      const verdict = canonicalAddress(given);
      if (!verdict.ok) context.addIssue({ code: 'custom', message: verdict.problem });
    })
    .meta({ format: 'ip-or-cidr', examples: ['203.0.113.7', '198.51.100.0/24'] });
