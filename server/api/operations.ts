import { families } from '#server/domain/families.ts';
import type { Family } from '#server/kernel/family.ts';
import { type AnyOperation, type AnyPersonOperation, isOfPerson } from '#server/kernel/operation.ts';
import { matcher } from './match.ts';

/** The one table: every operation of the product, family by family. */
export const table: readonly (AnyOperation | AnyPersonOperation)[] = (families as readonly Family[]).flatMap(({ operations = {} }) =>
  Object.values(operations).filter((row): row is AnyOperation | AnyPersonOperation => typeof row === 'object' && 'http' in row),
);

/** Operations in a workspace: REST routes, tRPC procedures, OpenAPI, scope matrix and derived tests read this part of the table. */
export const operations: readonly AnyOperation[] = table.filter((op): op is AnyOperation => !isOfPerson(op));
/** Operations of a person, which the session plane serves. */
export const personOperations: readonly AnyPersonOperation[] = table.filter(isOfPerson);

const isDashboard = (op: AnyOperation) => /^\w+ \/admin\//.test(op.http);

/** Operations of /v1 and of the dashboard plane. */
export const v1Operations = operations.filter((op) => !isDashboard(op));
export const dashboardOperations = operations.filter(isDashboard);

const belowAdmin = (op: AnyOperation): AnyOperation => ({
  ...op,
  http: typeof op.mirrored === 'string' ? op.mirrored : (op.http.replace(' /', ' /admin/') as AnyOperation['http']),
});

export const matchV1 = matcher(v1Operations);
export const matchDashboard = matcher([...dashboardOperations, ...v1Operations.filter(({ mirrored }) => mirrored).map(belowAdmin)]);
export const matchPerson = matcher(personOperations);
