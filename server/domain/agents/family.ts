import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { tellConnectivity } from './connectivity.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { pruneAgents } from './pruning.ts';

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
});
