import { agents } from './agents/family.ts';
import { aiControls } from './ai-controls/family.ts';
import { aiDenials } from './ai-denials/family.ts';
import { aiGateways } from './ai-gateways/family.ts';
import { aiPlayground } from './ai-playground/family.ts';
import { aiSpend } from './ai-spend/family.ts';
import { aiTrust } from './ai-trust/family.ts';
import { aiUsers } from './ai-users/family.ts';
import { alerts } from './alerts/family.ts';
import { analytics } from './analytics/family.ts';
import { apiKeys } from './api-keys/family.ts';
import { audit } from './audit/family.ts';
import { billing } from './billing/family.ts';
import { clientTokens } from './client-tokens/family.ts';
import { clients } from './clients/family.ts';
import { collections } from './collections/family.ts';
import { cryptoKeys } from './crypto-keys/family.ts';
import { deployment } from './deployment/family.ts';
import { domains } from './domains/family.ts';
import { dynDb } from './dyn-db/family.ts';
import { encryption } from './encryption/family.ts';
import { environments } from './environments/family.ts';
import { explorer } from './explorer/family.ts';
import { home } from './home/family.ts';
import { imports } from './import/family.ts';
import { inboundWebhooks } from './inbound-webhooks/family.ts';
import { logStreams } from './log-streams/family.ts';
import { logs } from './logs/family.ts';
import { mcpServers } from './mcp-servers/family.ts';
import { me } from './me/family.ts';
import { migrations } from './migrations/family.ts';
import { notifications } from './notifications/family.ts';
import { oauthClients } from './oauth-clients/family.ts';
import { opportunities } from './opportunities/family.ts';
import { pki } from './pki/family.ts';
import { policies } from './policies/family.ts';
import { quickstart } from './quickstart/family.ts';
import { reveals } from './reveals/family.ts';
import { roles } from './roles/family.ts';
import { routes } from './routes/family.ts';
import { sandbox } from './sandbox/family.ts';
import { scim } from './scim/family.ts';
import { secretShares } from './secret-shares/family.ts';
import { secrets } from './secrets/family.ts';
import { settings } from './settings/family.ts';
import type { PageFamily } from './shell/page-family.ts';
import { sso } from './sso/family.ts';
import { team } from './team/family.ts';
import { vaults } from './vaults/family.ts';
import { webhooks } from './webhooks/family.ts';
import { workflows } from './workflows/family.ts';
import { wrap } from './wrap/family.ts';

/** Every family that has pages in the dashboard. The rail, the palette, shortcuts, links to the documentation and page tests derive from this list. */
export const families: readonly PageFamily[] = [
  agents,
  aiControls,
  aiSpend,
  aiDenials,
  aiGateways,
  aiPlayground,
  aiTrust,
  aiUsers,
  apiKeys,
  audit,
  billing,
  clients,
  clientTokens,
  collections,
  cryptoKeys,
  deployment,
  domains,
  dynDb,
  encryption,
  environments,
  explorer,
  home,
  imports,
  inboundWebhooks,
  logs,
  analytics,
  logStreams,
  me,
  migrations,
  oauthClients,
  opportunities,
  pki,
  policies,
  quickstart,
  alerts,
  notifications,
  reveals,
  roles,
  routes,
  sandbox,
  scim,
  secretShares,
  secrets,
  settings,
  team,
  sso,
  vaults,
  webhooks,
  workflows,
  wrap,
  mcpServers,
];
