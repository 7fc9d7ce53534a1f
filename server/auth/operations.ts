import { matcher } from '#server/api/match.ts';
import * as mail from '#server/domain/mail/person-operations.ts';
import * as people from '#server/domain/people/person-operations.ts';
import * as pictures from '#server/domain/pictures/person-operations.ts';
import * as signup from '#server/domain/signup/person-operations.ts';
import type { AnyPersonOperation } from '#server/kernel/person-operation.ts';

/** Every call of the session plane. */
export const personOperations: readonly AnyPersonOperation[] = [people, pictures, signup, mail].flatMap(
  (family) => Object.values(family) as AnyPersonOperation[],
);

export const matchPerson = matcher(personOperations);
