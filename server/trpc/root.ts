import { accountRouter } from '#server/domain/account/router.ts';
import { apiKeysRouter } from '#server/domain/api-keys/router.ts';
import { auditLogsRouter } from '#server/domain/audit-logs/router.ts';
import { clientsRouter } from '#server/domain/clients/router.ts';
import { collectionsRouter } from '#server/domain/collections/router.ts';
import { environmentsRouter } from '#server/domain/environments/router.ts';
import { explorerRouter } from '#server/domain/explorer/router.ts';
import { importRouter } from '#server/domain/import/router.ts';
import { tenantKeysRouter } from '#server/domain/keys/router.ts';
import { requestLogsRouter } from '#server/domain/request-logs/router.ts';
import { rolesRouter } from '#server/domain/roles/router.ts';
import { routesRouter } from '#server/domain/routes/router.ts';
import { sandboxRouter } from '#server/domain/sandbox/router.ts';
import { searchRouter } from '#server/domain/search/router.ts';
import { secretsRouter } from '#server/domain/secrets/router.ts';
import { viewsRouter } from '#server/domain/views/router.ts';
import { router } from './from-operation.ts';

/** Everything the dashboard can ask, family by family. */
export const appRouter = router({
  account: accountRouter,
  apiKeys: apiKeysRouter,
  auditLogs: auditLogsRouter,
  clients: clientsRouter,
  collections: collectionsRouter,
  environments: environmentsRouter,
  explorer: explorerRouter,
  import: importRouter,
  requestLogs: requestLogsRouter,
  roles: rolesRouter,
  routes: routesRouter,
  sandbox: sandboxRouter,
  search: searchRouter,
  secrets: secretsRouter,
  tenantKeys: tenantKeysRouter,
  views: viewsRouter,
});
export type AppRouter = typeof appRouter;
