import { formFields } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { OAuthProblem } from './problem.ts';

/** The parameters of a form, each at most once; an empty one is absent, but for those where empty means something. */
export type Form = ReadonlyMap<string, string>;

const MAX_BODY = 64 * 1024;
/** An empty target is an error, not an omission (interface rule 21 §1.1). */
const KEPT_EMPTY: ReadonlySet<string> = new Set(['resource', 'audience']);

/** @throws OAuthProblem invalid_request for another media type, a body over 64 KiB, too many fields, text that is not UTF-8, or a repeated parameter */
export function parseForm(contentType: string | null, body: Uint8Array): Form {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/x-www-form-urlencoded')
    throw new OAuthProblem('invalid_request', 'Send the parameters as application/x-www-form-urlencoded.');
  if (body.byteLength > MAX_BODY) throw new OAuthProblem('invalid_request', 'The body must not exceed 64 KiB.');
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, value] of fieldsOf(body)) {
    if (seen.has(name)) throw new OAuthProblem('invalid_request', `The parameter ${shown(name)} was sent more than once.`);
    seen.add(name);
    // PostgreSQL can't store it, and no value of ours holds one.
    if (value.includes('\0')) throw new OAuthProblem('invalid_request', `The parameter ${shown(name)} contains a null character.`);
    if (value !== '' || KEPT_EMPTY.has(name)) form.set(name, value);
  }
  return form;
}

/** @throws OAuthProblem invalid_request */
export function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw new OAuthProblem('invalid_request', `The parameter ${name} is missing.`);
  return value;
}

function fieldsOf(body: Uint8Array): URLSearchParams {
  try {
    return formFields(strict.decode(body));
  } catch (error) {
    throw new OAuthProblem('invalid_request', error instanceof Refusal ? error.message : 'The body is not valid UTF-8.');
  }
}
const strict = new TextDecoder('utf-8', { fatal: true });

/** Descriptions hold printable ASCII without quotes and backslashes (RFC 6749 §5.2). */
const shown = (name: string): string => name.slice(0, 40).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
