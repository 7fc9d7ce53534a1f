import { matcher } from '#server/api/match.ts';
import { families } from '#server/domain/families.ts';
import type { Family } from '#server/kernel/family.ts';
import type { AnyPersonOperation } from '#server/kernel/person-operation.ts';

/** Every call of the session plane. */
export const personOperations: readonly AnyPersonOperation[] = (families as readonly Family[]).flatMap(
  ({ personOperations = {} }) => Object.values(personOperations) as AnyPersonOperation[],
);

export const matchPerson = matcher(personOperations);
