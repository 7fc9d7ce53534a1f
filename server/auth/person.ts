import { type CredentialReader, readCredential } from '#server/api/credentials/credential-reader.ts';
import { type SignedInPerson, sessions } from '#server/api/credentials/session.ts';
import { presentedToken } from './session-cookie.ts';

/** The credentials that the dashboard and session planes accept. */
const PERSON_CREDENTIALS: readonly CredentialReader<SignedInPerson, { now: Date }>[] = [sessions];

/** Who a request comes from, by its cookie or `Authorization: Bearer ses_...`; null when nobody is signed in. */
export async function personOf(headers: Headers, now = new Date()): Promise<SignedInPerson | null> {
  const presented = await presentedToken(headers);
  return presented && readCredential(PERSON_CREDENTIALS, presented.token, { now });
}
