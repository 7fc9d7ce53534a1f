import { sessionOf } from '#server/domain/people/service.ts';
import type { LiveSession, Person } from '#server/kernel/person-operation.ts';
import { presentedToken } from './session-cookie.ts';

export type SignedInPerson = { session: LiveSession; user: Person };

/** Who a request comes from: cookie or `Authorization: Bearer ses_...`, checked against the session's row; null when nobody is signed in. */
export async function personOf(headers: Headers, now = new Date()): Promise<SignedInPerson | null> {
  const presented = await presentedToken(headers);
  return presented && sessionOf(presented.token, now);
}
