'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import type { Agent } from './ai-labels.ts';
import { agentsOf } from './list-search.ts';

export type AgentOption = { value: string; label: string; detail?: string };
export type AgentOptions = Record<
  'routes' | 'secrets' | 'agents' | 'piiPolicies' | 'firewallPolicies' | 'tools' | 'keys' | 'retryReasons' | 'operations' | 'days',
  readonly AgentOption[]
>;

const RETRY_REASONS: readonly AgentOption[] = [
  { value: '429', label: '429', detail: 'Rate limited' },
  { value: '5xx', label: '5xx', detail: 'Server error' },
  { value: 'timeout', label: 'timeout', detail: 'No answer in time' },
];

/** What the settings of an agent can name, as far as this person may list it. */
export function useAgentOptions(agent: Agent): Partial<AgentOptions> {
  const trpc = useTRPC();
  const no = {
    routes: useForbidden('route:list') !== undefined,
    secrets: useForbidden('secret:read') !== undefined,
    keys: useForbidden('transit:read') !== undefined,
  };
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { enabled: !no.routes }));
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }, { enabled: !no.secrets }));
  const keys = useQuery(trpc.cryptoKeys.list.queryOptions({}, { enabled: !no.keys }));
  const agents = useQuery(trpc.aiGateways.listAgents.queryOptions(agentsOf(agent.gateway_id)));
  const pii = useQuery(trpc.aiControls.piiPolicies.queryOptions({ per_page: 100 }));
  const firewall = useQuery(trpc.aiControls.firewallPolicies.queryOptions({ per_page: 100 }));
  const named = (rows: readonly { id: string; name: string }[] | undefined): AgentOption[] =>
    (rows ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return {
    retryReasons: RETRY_REASONS,
    routes: named(routes.data?.data),
    secrets: named(secrets.data?.data),
    agents: named(agents.data?.data.filter(({ id }) => id !== agent.id)),
    keys: (keys.data?.data ?? [])
      .filter(({ key_type, managed_by }) => key_type === 'aes256-gcm' && managed_by === 'tenant')
      .map(({ id, name, key_type }) => ({ value: id, label: name, detail: key_type })),
    piiPolicies: named(pii.data?.data),
    firewallPolicies: (firewall.data?.data ?? []).map(({ id, name, version, action }) => ({
      value: id,
      label: `${name}, version ${version}`,
      detail: action,
    })),
  };
}
