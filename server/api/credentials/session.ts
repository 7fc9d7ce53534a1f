import { sessionOf } from '#server/domain/people/service.ts';
import type { LiveSession, Person } from '#server/kernel/person.ts';
import type { CredentialReader } from './credential-reader.ts';

export type SignedInPerson = { session: LiveSession; user: Person };

/** The session of a signed-in person, checked against its row on every request (interface rule 22 §3.1). */
export const sessions: CredentialReader<SignedInPerson, { now: Date }> = {
  kinds: ['session'],
  read: (text, { now }) => sessionOf(text, now),
};
