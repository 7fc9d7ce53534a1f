import { families } from '#server/domain/families.ts';
import type { Family } from '#server/kernel/family.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { matcher } from './match.ts';

/** Every operation of the product, family by family: REST routes, tRPC procedures, OpenAPI, scope matrix and derived tests all read this list. */
export const operations: readonly AnyOperation[] = (families as readonly Family[]).flatMap(({ operations = {} }) =>
  Object.values(operations).filter((row): row is AnyOperation => typeof row === 'object' && 'http' in row),
);

const isDashboard = (op: AnyOperation) => /^\w+ \/(?:admin|auth)\//.test(op.http);

/** Operations of /v1 and of the dashboard plane. */
export const v1Operations = operations.filter((op) => !isDashboard(op));
export const dashboardOperations = operations.filter(isDashboard);

export const matchV1 = matcher(v1Operations);
export const matchDashboard = matcher(dashboardOperations);
