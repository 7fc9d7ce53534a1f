'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { SettingsCard } from '#components/ai-gateways/settings-card.tsx';
import type { Setting } from '#components/ai-gateways/settings-fields.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Server } from './server-labels.ts';

const TOOLS: readonly Setting[] = [
  {
    name: 'members',
    label: 'Tools',
    kind: 'many',
    from: 'tools',
    empty: 'Add a tool',
    hint: 'Those that servers of the same gateway allow. Clients see each under its own name; two of the same name get their server’s slug before it.',
  },
];

// An ID has no spaces, so the first one ends it.
const keyOf = ({ server_id, tool }: Server['members'][number]): string => `${server_id} ${tool}`;
const memberOf = (key: string): Server['members'][number] => ({
  server_id: key.slice(0, key.indexOf(' ')),
  tool: key.slice(key.indexOf(' ') + 1),
});

/** Which tools of other servers a toolset has. */
export function ToolsetMembers({ server }: { server: Server }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const servers = useQuery(trpc.mcpServers.overview.queryOptions({ gateway_id: server.gateway_id }));
  const others = (servers.data?.data ?? []).filter(({ server_type, status }) => server_type !== 'toolset' && status !== 'archived');
  const tools = others.flatMap(({ id, name, allowed_tools }) =>
    allowed_tools.map((tool) => ({ value: keyOf({ server_id: id, tool }), label: tool, detail: name })),
  );
  const known = new Set(tools.map(({ value }) => value));
  // What is no longer allowed stays visible, so that it can be taken out.
  const gone = server.members
    .filter((one) => !known.has(keyOf(one)))
    .map((one) => ({ value: keyOf(one), label: one.tool, detail: 'Not allowed any more' }));
  const update = useMutation(
    trpc.mcpServers.update.mutationOptions({
      onSuccess: () => {
        notifyDone('Toolset saved');
        return cache.invalidateQueries(trpc.mcpServers.pathFilter());
      },
    }),
  );
  return (
    <SettingsCard
      of="server"
      title="Tools of the toolset"
      description="A selection of tools of other servers, at one address."
      settings={TOOLS}
      row={{ id: server.id, updated_at: server.updated_at, members: server.members.map(keyOf) }}
      body={({ members }) => (Array.isArray(members) ? { members: members.map(memberOf) } : {})}
      options={{ tools: [...tools, ...gone] }}
      busy={update.isPending}
      save={(changes) => update.mutateAsync({ id: server.id, ...changes })}
    />
  );
}
