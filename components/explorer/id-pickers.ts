import type { TRPCOptionsProxy } from '@trpc/tanstack-react-query';
import type { AppRouter } from '#server/trpc/root.ts';

/** Lets people choose an ID of a family by name in the API explorer. */
export type IdPicker = {
  /** Fields that take an ID of this family; `id` below its own path always does. */
  fields: readonly string[];
  /** Fields that take a name instead; `id` and `name` among them are those below its own path. */
  nameFields?: readonly string[];
  /** Where its own paths begin, when that isn't the name of the family. */
  path?: string;
  /** A query for a page of rows with `id` and `name`. */
  list: (trpc: TRPCOptionsProxy<AppRouter>, query: { per_page: number; q?: string }) => { queryKey: readonly unknown[] };
  /** Whether that query searches by `q`. */
  searches: boolean;
};

/** The families whose IDs can be chosen from a list, by name. Here and not with the families themselves, which every page loads. */
export const idPickers: Readonly<Record<string, IdPicker>> = {
  agents: { fields: [], list: (trpc) => trpc.agents.list.queryOptions({}), searches: false },
  'api-keys': { fields: [], list: (trpc, { per_page }) => trpc.apiKeys.list.queryOptions({ per_page }), searches: false },
  clients: { fields: ['client_id'], list: (trpc, query) => trpc.clients.list.queryOptions(query), searches: true },
  collections: { fields: ['collection_id'], list: (trpc, query) => trpc.collections.list.queryOptions(query), searches: true },
  'crypto-keys': {
    fields: ['crypto_key_id', 'hmac_key_id'],
    nameFields: ['name'],
    path: '/crypto/keys/',
    list: (trpc) => trpc.cryptoKeys.list.queryOptions({}),
    searches: false,
  },
  'dyn-db': {
    fields: [],
    nameFields: ['connection'],
    // The IDs below the family's own path are those of leases.
    path: '/dyn-db-credentials/{connection}',
    list: (trpc) => trpc.dynDb.list.queryOptions({}),
    searches: false,
  },
  environments: {
    fields: ['base_environment_id'],
    nameFields: ['id', 'env', 'environment', 'base_environment'],
    list: (trpc) => trpc.environments.list.queryOptions({}),
    searches: false,
  },
  'oauth-clients': { fields: [], list: (trpc) => trpc.oauthClients.list.queryOptions({}), searches: false },
  pki: {
    fields: [],
    nameFields: ['name'],
    path: '/pki/roots/',
    list: (trpc) => trpc.pki.listRoots.queryOptions({}),
    searches: false,
  },
  routes: { fields: ['route_id', 'routeId'], list: (trpc, query) => trpc.routes.list.queryOptions(query), searches: true },
  secrets: { fields: ['secret_id'], list: (trpc, query) => trpc.secrets.list.queryOptions(query), searches: true },
  vaults: {
    fields: ['vault_id'],
    nameFields: ['vault'],
    list: (trpc, query) => trpc.vaults.list.queryOptions({ per_page: query.per_page }),
    searches: false,
  },
  webhooks: {
    fields: ['webhook_id'],
    list: (trpc, query) => trpc.webhooks.list.queryOptions({ per_page: query.per_page }),
    searches: false,
  },
  workflows: {
    fields: ['workflow_id'],
    list: (trpc, query) => trpc.workflows.list.queryOptions(query),
    searches: true,
  },
};
