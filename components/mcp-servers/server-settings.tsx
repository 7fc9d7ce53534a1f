'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { SettingsCard } from '#components/ai-gateways/settings-card.tsx';
import type { Setting } from '#components/ai-gateways/settings-fields.ts';
import type { AgentOption } from '#components/ai-gateways/use-agent-options.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Server } from './server-labels.ts';

const OAUTH: readonly Setting[] = [
  {
    name: 'oauth.authorization_server',
    label: 'Authorization server',
    kind: 'text',
    mono: true,
    placeholder: 'Found by asking the MCP server',
    hint: 'Required with a client secret: the secret is sent to this server only.',
  },
  {
    name: 'oauth.client_id',
    label: 'Client ID',
    kind: 'text',
    mono: true,
    placeholder: 'Registered automatically where the server allows it',
  },
  { name: 'oauth.client_secret_id', label: 'Client secret', kind: 'one', from: 'secrets', empty: 'None: a public client' },
  { name: 'oauth.scopes', label: 'Scopes', kind: 'lines', placeholder: 'Those that the server offers', hint: 'One per line.' },
  { name: 'oauth.resource', label: 'Resource', kind: 'text', mono: true, placeholder: 'The one that the server names' },
];
const POLICIES: readonly Setting<keyof Server>[] = [
  {
    name: 'pii_redact_policy_id',
    label: 'PII policy',
    kind: 'one',
    from: 'piiPolicies',
    empty: 'Built-in detectors and your recognizers',
  },
  { name: 'firewall_policy_id', label: 'Firewall policy', kind: 'one', from: 'firewallPolicies', empty: 'Built-in rules, as warnings' },
];
const GUARDRAIL: readonly Setting<keyof Server>[] = [
  {
    name: 'guardrail_webhook_mode',
    label: 'Ask it about',
    kind: 'choice',
    options: [
      { value: 'off', title: 'Nothing', description: 'No guardrail is asked.' },
      { value: 'request', title: 'Arguments', description: 'Before a call leaves.' },
      { value: 'response', title: 'Results', description: 'Before the caller gets them.' },
      { value: 'both', title: 'Both', description: 'Arguments and results.' },
    ],
  },
  { name: 'guardrail_webhook_url', label: 'URL', kind: 'text', mono: true, placeholder: 'https://guard.example.com/check' },
  { name: 'guardrail_webhook_secret_id', label: 'Signing secret', kind: 'one', from: 'secrets', empty: 'Requests aren’t signed' },
  { name: 'guardrail_webhook_timeout_ms', label: 'Timeout', kind: 'integer', suffix: 'ms', required: true, hint: '100 to 10,000.' },
  {
    name: 'guardrail_webhook_failure_action',
    label: 'When it gives no answer',
    kind: 'choice',
    options: [
      { value: 'fail_closed', title: 'Refuse the call' },
      { value: 'fail_open', title: 'Let the call through' },
    ],
  },
];
const LIMITS: readonly Setting<keyof Server>[] = [
  {
    name: 'rate_limit_rpm',
    label: 'Rate limit',
    kind: 'integer',
    suffix: 'calls per minute',
    required: true,
    hint: 'Of all tokens together. A token may have a lower one.',
  },
  {
    name: 'allowed_origins',
    label: 'Web origins',
    kind: 'lines',
    placeholder: 'https://app.example.com',
    hint: 'Web pages that may call the server from a browser, one per line. Programs and editors need none.',
  },
];

/** Everything of a server that is typed or picked: how people sign in, policies, guardrail and limits. */
export function ServerSettings({ server }: { server: Server }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const noSecrets = useForbidden('secret:read') !== undefined;
  const secrets = useQuery(trpc.secrets.list.queryOptions({ per_page: 100 }, { enabled: !noSecrets }));
  const pii = useQuery(trpc.aiControls.piiPolicies.queryOptions({ per_page: 100 }));
  const firewall = useQuery(trpc.aiControls.firewallPolicies.queryOptions({ per_page: 100 }));
  const named = (rows: readonly { id: string; name: string }[] | undefined): AgentOption[] =>
    (rows ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const update = useMutation(
    trpc.mcpServers.update.mutationOptions({
      onSuccess: () => {
        notifyDone('Server saved');
        return cache.invalidateQueries(trpc.mcpServers.pathFilter());
      },
    }),
  );
  const shared = {
    of: 'server' as const,
    row: server,
    options: {
      secrets: named(secrets.data?.data),
      piiPolicies: named(pii.data?.data),
      firewallPolicies: (firewall.data?.data ?? []).map(({ id, name, version, action }) => ({
        value: id,
        label: `${name}, version ${version}`,
        detail: action,
      })),
    },
    busy: update.isPending,
    save: (changes: object) => update.mutateAsync({ id: server.id, ...changes }),
  };
  const { oauth } = server.auth;
  return (
    <>
      {oauth !== undefined && (
        <SettingsCard
          {...shared}
          title="People’s accounts"
          description="How people let us act for them at the MCP server, by OAuth. A change ends every connected account."
          settings={OAUTH}
          row={{ id: server.id, updated_at: server.updated_at, oauth }}
          body={({ oauth: changed }) => (changed === undefined ? {} : { auth: { ...server.auth, oauth: changed } })}
        />
      )}
      <SettingsCard {...shared} title="Policies" settings={POLICIES} />
      <SettingsCard
        {...shared}
        title="Guardrail"
        description="Your own service decides about each call: allow, block, or answer with a message."
        settings={GUARDRAIL}
      />
      <SettingsCard {...shared} title="Limits" settings={LIMITS} />
    </>
  );
}
