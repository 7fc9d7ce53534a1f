import { accountRouter } from '#server/domain/account/router.ts';
import { apiKeysRouter } from '#server/domain/api-keys/router.ts';
import { environmentsRouter } from '#server/domain/environments/router.ts';
import { rolesRouter } from '#server/domain/roles/router.ts';
import { routesRouter } from '#server/domain/routes/router.ts';
import { secretsRouter } from '#server/domain/secrets/router.ts';
import { router } from './from-operation.ts';

/** Everything the dashboard can ask, family by family. */
export const appRouter = router({
  account: accountRouter,
  apiKeys: apiKeysRouter,
  environments: environmentsRouter,
  roles: rolesRouter,
  routes: routesRouter,
  secrets: secretsRouter,
});
export type AppRouter = typeof appRouter;
