import { accessRequests } from './access-requests/family.ts';
import { account } from './account/family.ts';
import { acme } from './acme/family.ts';
import { agents } from './agents/family.ts';
import { aiControls } from './ai-controls/family.ts';
import { aiGateways } from './ai-gateways/family.ts';
import { aiSpend } from './ai-spend/family.ts';
import { aiTrust } from './ai-trust/family.ts';
import { alertChannels } from './alert-channels/family.ts';
import { alerts } from './alerts/family.ts';
import { apiKeys } from './api-keys/family.ts';
import { auditLogs } from './audit-logs/family.ts';
import { billing } from './billing/family.ts';
import { clientTokens } from './client-tokens/family.ts';
import { clients } from './clients/family.ts';
import { collections } from './collections/family.ts';
import { cryptoKeys } from './crypto-keys/family.ts';
import { deliveries } from './deliveries/family.ts';
import { deployment } from './deployment/family.ts';
import { domains } from './domains/family.ts';
import { dynDb } from './dyn-db/family.ts';
import { elements } from './elements/family.ts';
import { encryption } from './encryption/family.ts';
import { environments } from './environments/family.ts';
import { events } from './events/family.ts';
import { explorer } from './explorer/family.ts';
import { factors } from './factors/family.ts';
import { imports } from './import/family.ts';
import { inboundWebhooks } from './inbound-webhooks/family.ts';
import { keys } from './keys/family.ts';
import { leases } from './leases/family.ts';
import { logStreams } from './log-streams/family.ts';
import { mail } from './mail/family.ts';
import { mcpServers } from './mcp-servers/family.ts';
import { migrations } from './migrations/family.ts';
import { notifications } from './notifications/family.ts';
import { oauthClients } from './oauth-clients/family.ts';
import { oauthGrants } from './oauth-grants/family.ts';
import { openapi } from './openapi/family.ts';
import { opportunities } from './opportunities/family.ts';
import { people } from './people/family.ts';
import { pictures } from './pictures/family.ts';
import { pki } from './pki/family.ts';
import { plans } from './plans/family.ts';
import { policies } from './policies/family.ts';
import { requestLogs } from './request-logs/family.ts';
import { retention } from './retention/family.ts';
import { reveals } from './reveals/family.ts';
import { roles } from './roles/family.ts';
import { routes } from './routes/family.ts';
import { sandbox } from './sandbox/family.ts';
import { scimCredentials } from './scim-credentials/family.ts';
import { scimUsers } from './scim-users/family.ts';
import { search } from './search/family.ts';
import { secretShares } from './secret-shares/family.ts';
import { secrets } from './secrets/family.ts';
import { signup } from './signup/family.ts';
import { sso } from './sso/family.ts';
import { team } from './team/family.ts';
import { tenants } from './tenants/family.ts';
import { trustBindings } from './trust-bindings/family.ts';
import { vaults } from './vaults/family.ts';
import { views } from './views/family.ts';
import { webhooks } from './webhooks/family.ts';
import { workflows } from './workflows/family.ts';
import { wrap } from './wrap/family.ts';

/** Every family of the product, in the order in which search, the command palette and resets go through them. */
export const families = [
  routes,
  secretShares,
  secrets,
  clients,
  environments,
  encryption,
  clientTokens,
  collections,
  apiKeys,
  oauthClients,
  oauthGrants,
  trustBindings,
  cryptoKeys,
  dynDb,
  vaults,
  pki,
  acme,
  wrap,
  aiGateways,
  aiControls,
  aiSpend,
  aiTrust,
  mcpServers,
  opportunities,
  imports,
  migrations,
  webhooks,
  workflows,
  inboundWebhooks,
  agents,
  alerts,
  alertChannels,
  requestLogs,
  auditLogs,
  roles,
  sandbox,
  views,
  explorer,
  search,
  keys,
  account,
  billing,
  deployment,
  signup,
  people,
  factors,
  team,
  pictures,
  logStreams,
  notifications,
  accessRequests,
  mail,
  openapi,
  domains,
  sso,
  scimCredentials,
  scimUsers,
  tenants,
  plans,
  policies,
  reveals,
  retention,
  leases,
  events,
  deliveries,
  elements,
] as const;
export type Families = typeof families;
