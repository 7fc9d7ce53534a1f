import { forgetMaterial, wipeMaterial } from '#server/custody/material.ts';
import { forgetRules } from '#server/domain/policies/rule-cache.ts';
import { type Listener, listen } from '#server/platform/notify.ts';
import { type AccessTokens, type AccessTokensOptions, accessTokens } from './access-tokens.ts';
import { type AgentSessions, agentSessions } from './agent-sessions.ts';
import { type ApiKeys, apiKeys } from './api-keys.ts';
import { type CapabilityTokens, capabilityTokens } from './capability-tokens.ts';
import { type OAuthClients, oauthClients } from './oauth-clients.ts';
import { type WrapTokens, wrapTokens } from './wrap-tokens.ts';

export type Credentials = {
  keys: ApiKeys;
  tokens: AccessTokens;
  clients: OAuthClients;
  /** What callers of the AI and MCP planes present. */
  capabilities: CapabilityTokens;
  /** Gateway tokens in addresses of /wg. */
  wraps: WrapTokens;
  /** Sessions of on-host agents. */
  agents: AgentSessions;
  /** Drops what is remembered of a workspace's credentials and policies. */
  forget(tenantId: string): void;
  close(): Promise<void>;
};

/** The credentials that this gateway remembers, and its opened keys. What changes them, and all that they rest on, announces itself by triggers. */
export function credentials(options: AccessTokensOptions): Credentials {
  const keys = apiKeys();
  const tokens = accessTokens(options);
  const clients = oauthClients();
  const capabilities = capabilityTokens();
  const wraps = wrapTokens();
  const agents = agentSessions();
  const forget = (tenantId: string) => {
    keys.forget(tenantId);
    tokens.forget(tenantId);
    clients.forget(tenantId);
    capabilities.forget(tenantId);
    wraps.forget(tenantId);
    agents.forget(tenantId);
    forgetRules(tenantId);
  };
  const listener: Listener = listen({
    channels: [
      'config_changed',
      'tenant_changed',
      'oauth_changed',
      'key_version_destroyed',
      'ai_token_changed',
      'wrap_token_changed',
      'agent_session_changed',
      'agent_command_queued',
    ],
    onMessage: (channel, payload) => {
      if (channel === 'key_version_destroyed') return forgetMaterial(payload);
      if (channel === 'ai_token_changed') return capabilities.heard(payload);
      if (channel === 'wrap_token_changed') return wraps.heard(payload);
      if (channel === 'agent_session_changed') return agents.heard(payload);
      if (channel === 'agent_command_queued') return agents.heardCommand(payload);
      const [tenantId = ''] = payload.split(':');
      if (channel !== 'oauth_changed') return forget(tenantId);
      tokens.forget(tenantId);
      clients.forget(tenantId);
      // What a client minted ends with it.
      capabilities.forget(tenantId);
      wraps.forget(tenantId);
    },
    // Announcements made while nothing listened were lost.
    onConnect: () => {
      keys.forgetAll();
      tokens.forgetAll();
      clients.forgetAll();
      capabilities.forgetAll();
      wraps.forgetAll();
      agents.forgetAll();
      wipeMaterial();
    },
  });
  return { keys, tokens, clients, capabilities, wraps, agents, forget, close: () => listener.close() };
}
