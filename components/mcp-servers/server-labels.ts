import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['mcpServers'];
export type Server = Outputs['get'];
export type Listed = Outputs['overview']['data'][number];
export type Tool = Outputs['tools']['data'][number];
export type Approval = Outputs['approvals']['data'][number];

export const TYPES = { upstream: 'Remote', collection: 'Routes', toolset: 'Toolset' } as const;

/** What the last probe found, in a few words. */
export function protocolText({ protocol, server_type }: Pick<Server, 'protocol' | 'server_type'>): string {
  if (server_type !== 'upstream') return TYPES[server_type];
  if (protocol.era === 'unknown') return protocol.error ? 'Not reachable' : 'Not probed yet';
  return protocol.versions.at(-1) ?? protocol.era;
}

export const hostOf = (url: string | null): string | null => (url === null ? null : (URL.parse(url)?.host ?? url));
export type Grant = Outputs['grants']['data'][number];
