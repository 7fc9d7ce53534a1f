import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { tellConnectivity } from './connectivity.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { pruneAgents } from './pruning.ts';
import { endWork } from './service.ts';

export const agents = family({
  name: 'agents',
  namespace: 'agents',
  router: 'agents',
  tag: 'Agents',
  descriptions,
  operations,
  resources: [
    { type: 'agent', limit: 'agents', search: { needs: 'agent:list', page: (id) => `/agents/${id}` } },
    // Shown on the page of its agent.
    { type: 'agent_install_token' },
  ],
  tables: [
    { name: 'agents', reset: 'delete' },
    { name: 'agent_keys', reset: 'cascade' },
    { name: 'agent_install_tokens', reset: 'cascade' },
    { name: 'agent_sessions', reset: 'cascade' },
    { name: 'agent_nonces', reset: 'cascade' },
    { name: 'agent_tamper_events', reset: 'cascade' },
    { name: 'agent_commands', reset: 'cascade' },
    { name: 'agent_metrics', reset: 'cascade' },
  ],
  actions: [{ id: 'create-agent', title: 'Create agent', path: '/agents?open=new', needs: 'agent:create' }],
  jobs: {
    tell_agent_connectivity: { cron: '* * * * *', run: ({ now }) => tellConnectivity(db(), now) },
    prune_agents: { cron: '35 * * * *', run: ({ now }) => pruneAgents(now) },
  },
  made: [
    {
      type: 'agent',
      table: 'agents',
      label: ['agent', 'agents'],
      name: `r.name || ' (' || r.mode || ')'`,
      works: `r.status <> 'revoked'`,
      // Whoever rotated its secret has seen it.
      by: `r.made_by = any($2::uuid[]) or r.id = any(array(select k.agent_id from agent_keys k where k.tenant_id = $1::uuid and k.made_by = any($2::uuid[]) and coalesce(k.expires_at > $3, true)))`,
      end: { set: `status = 'revoked', revoked_at = $3, updated_at = $3`, action: 'revoke', needs: 'agent:revoke' },
      ended: async (tx, ctx, ids) => {
        for (const id of ids) await endWork(tx, ctx, id);
      },
    },
    {
      type: 'agent_install_token',
      table: 'agent_install_tokens',
      label: ['install token', 'install tokens'],
      name: `(select a.name from agents a where a.id = r.agent_id) || ' (' || r.prefix || ')'`,
      works: `r.used_at is null and r.revoked_at is null and r.expires_at > $3`,
      end: { set: 'revoked_at = $3', action: 'revoke', needs: 'agent:revoke' },
    },
  ],
});
