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
import * as views from '#server/domain/views/operations.ts';
import { router } from './from-operation.ts';
import { routerOf } from './router-of.ts';

/** Everything the dashboard can ask, family by family. */
export const appRouter = router({
  account: routerOf(account),
  apiKeys: routerOf(apiKeys),
  auditLogs: routerOf(auditLogs),
  clients: routerOf(clients),
  collections: routerOf(collections),
  environments: routerOf(environments),
  explorer: routerOf(explorer),
  import: routerOf(imports),
  requestLogs: routerOf(requestLogs),
  roles: routerOf(roles),
  routes: routerOf(routes),
  sandbox: routerOf(sandbox),
  search: routerOf(search),
  secrets: routerOf(secrets),
  tenantKeys: routerOf(keys),
  views: routerOf(views),
});
export type AppRouter = typeof appRouter;
