import * as account from '#server/domain/account/operations.ts';
import * as apiKeys from '#server/domain/api-keys/operations.ts';
import * as auditLogs from '#server/domain/audit-logs/operations.ts';
import * as clients from '#server/domain/clients/operations.ts';
import * as collections from '#server/domain/collections/operations.ts';
import * as environments from '#server/domain/environments/operations.ts';
import * as explorer from '#server/domain/explorer/operations.ts';
import * as imports from '#server/domain/import/operations.ts';
import * as keys from '#server/domain/keys/operations.ts';
import * as requestLogs from '#server/domain/request-logs/operations.ts';
import * as roles from '#server/domain/roles/operations.ts';
import * as routes from '#server/domain/routes/operations.ts';
import * as sandbox from '#server/domain/sandbox/operations.ts';
import * as search from '#server/domain/search/operations.ts';
import * as secrets from '#server/domain/secrets/operations.ts';
import * as signup from '#server/domain/signup/operations.ts';
import * as views from '#server/domain/views/operations.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import * as description from './document.ts';
import { matcher } from './match.ts';

/** Every operation of the product, family by family: REST routes, tRPC procedures, OpenAPI, scope matrix and derived tests all read this list. */
export const operations: readonly AnyOperation[] = [
  account,
  apiKeys,
  auditLogs,
  clients,
  collections,
  description,
  environments,
  explorer,
  imports,
  keys,
  requestLogs,
  roles,
  routes,
  sandbox,
  search,
  secrets,
  signup,
  views,
].flatMap((family) => Object.values(family).filter((row): row is AnyOperation => typeof row === 'object' && 'http' in row));

const isDashboard = (op: AnyOperation) => /^\w+ \/(?:admin|auth)\//.test(op.http);

/** Operations of /v1 and of the dashboard plane. */
export const v1Operations = operations.filter((op) => !isDashboard(op));
export const dashboardOperations = operations.filter(isDashboard);

export const matchV1 = matcher(v1Operations);
export const matchDashboard = matcher(dashboardOperations);
