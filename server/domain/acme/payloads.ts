import { z } from 'zod';
import { decodeBase64url } from '#server/crypto/base64.ts';
import { AcmeProblem, malformed } from './problem.ts';

// The payloads of ACME requests (RFC 8555 §7). Members that aren't known are ignored, as the RFC asks.

const MOST_NAMES = 100;
const MOST_CONTACTS = 10;
/** A request for RSA of 8192 bits with a hundred long names fits. */
const LONGEST_DER = 65_536;

const contact = z.array(z.string().max(320)).max(MOST_CONTACTS);

export const NewAccount = z.object({
  contact: contact.optional(),
  onlyReturnExisting: z.boolean().optional(),
  externalAccountBinding: z.unknown().optional(),
});
export const UpdateAccount = z.object({ contact: contact.optional(), status: z.literal('deactivated').optional() });
export const KeyChange = z.object({ account: z.string(), oldKey: z.unknown().optional() });
export const NewOrder = z.object({
  identifiers: z
    .array(z.object({ type: z.string().max(64), value: z.string().max(1_024) }))
    .min(1)
    .max(MOST_NAMES),
  notBefore: z.unknown().optional(),
  notAfter: z.unknown().optional(),
});
export const Deactivate = z.object({ status: z.literal('deactivated') });
export const Respond = z.object({});
const encoded = z.string().max(Math.ceil((LONGEST_DER * 4) / 3));
export const Finalize = z.object({ csr: encoded });
export const Revoke = z.object({ certificate: encoded, reason: z.int().optional() });

/** A payload by its schema. @throws AcmeProblem malformed, naming the place */
export function payloadAs<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw malformed(`The payload is not valid at ${issue?.path.join('.') || 'its top'}: ${issue?.message ?? 'unknown'}.`);
}

/** DER as base64url without padding, in its one spelling. @throws AcmeProblem malformed */
export function derOf(field: string, text: string): Buffer {
  const der = decodeBase64url(text);
  if (!der || der.length === 0) throw malformed(`${field} must be DER as base64url without padding.`);
  return der;
}

/** Addresses of mail, one each and without headers (RFC 8555 §7.3). @throws AcmeProblem unsupportedContact, invalidContact */
export function acceptedContact(given: readonly string[]): string[] {
  for (const url of given) {
    if (!/^mailto:/i.test(url)) throw new AcmeProblem('unsupportedContact', 'Contacts must be mailto: URLs.');
    if (!/^mailto:[!-$&-+.-;=A-~-]{1,64}@[A-Za-z0-9.-]{1,253}$/i.test(url))
      throw new AcmeProblem('invalidContact', 'Each contact must be one e-mail address without further fields.');
  }
  return [...given];
}
