import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { endTokensOnOffboarding } from './offboarding.ts';
import * as operations from './operations.ts';
import { pruneAnswers, pruneTokens } from './pruning.ts';
import { alertOfTravel } from './step-up-alert.ts';

export const aiGateways = family({
  name: 'ai-gateways',
  namespace: 'ai_gateways',
  router: 'aiGateways',
  tag: 'AI Gateway',
  descriptions,
  operations,
  resources: [
    { type: 'ai_gateway', limit: 'ai_gateways', search: { needs: 'ai_gateway:list', page: (id) => `/ai/gateways/${id}` } },
    { type: 'ai_agent', limit: 'ai_agents', search: { needs: 'ai_gateway:list', page: (id) => `/ai/agents/${id}` } },
    { type: 'ai_token' },
  ],
  tables: [
    { name: 'ai_agents', reset: 'delete', before: ['ai_agents', 'ai_gateways', 'ai_pii_policies', 'ai_firewall_policies'] },
    { name: 'ai_gateways', reset: 'delete' },
    { name: 'ai_tokens', reset: 'cascade' },
    { name: 'ai_stored_objects', reset: 'cascade' },
    { name: 'ai_cache_entries', reset: 'cascade' },
    { name: 'ai_circuits', reset: 'cascade' },
  ],
  jobs: {
    prune_ai_tokens: { cron: '35 2 * * *', run: ({ now }) => pruneTokens(now) },
    ai_step_up_alert: { run: ({ payload, now }) => alertOfTravel(db(), payload, now) },
    prune_ai_answers: { cron: '50 * * * *', run: ({ now }) => pruneAnswers(now) },
  },
  membershipEnds: endTokensOnOffboarding,
  made: [
    {
      type: 'ai_token',
      table: 'ai_tokens',
      label: ['AI token', 'AI tokens'],
      name: `coalesce(r.name || ' (' || r.prefix || ')', r.prefix)`,
      works: 'r.revoked_at is null and r.oneshot_consumed_at is null and r.expires_at > $3',
      end: { set: `capability_hmac = '', revoked_at = $3`, action: 'revoke', needs: 'ai_gateway:mint' },
    },
  ],
});
