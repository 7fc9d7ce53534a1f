import type { inferRouterOutputs } from '@trpc/server';
import type { State } from '#components/ui/badge.tsx';
import type { AgentMode, Connectivity } from '#server/domain/agents/modes.shared.ts';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['agents'];
export type AgentRow = Outputs['browse']['data'][number];
export type Detail = Outputs['get'];
export type Command = Outputs['commands']['data'][number];
export type Snippets = Outputs['enrol']['install'];

/** What a mode does, and what it means for secrets. */
export const MODES: Record<AgentMode, { title: string; does: string; secrets: string }> = {
  control: {
    title: 'Control',
    does: 'Runs scans and checks that you start here. No traffic goes through it.',
    secrets: 'No secret reaches the host.',
  },
  intercept: {
    title: 'Intercept',
    does: 'A forward proxy on the host sends calls of your programs through routes, without a change of their code.',
    secrets: 'Secrets stay with the service, except those that a migration answers with on the host.',
  },
  server: {
    title: 'Server',
    does: 'Serves your routes inside your network.',
    secrets: 'Secrets will be decrypted on your machine.',
  },
  proxy: {
    title: 'Proxy',
    does: 'A container that serves routes for an agent that exists already.',
    secrets: 'Secrets will be decrypted on your machine.',
  },
};

const CONNECTIVITY: Record<Connectivity, { state: State; label: string }> = {
  never_connected: { state: 'pending', label: 'Not connected yet' },
  online: { state: 'live', label: 'Online' },
  stale: { state: 'warning', label: 'Stale' },
  offline: { state: 'failing', label: 'Offline' },
  revoked: { state: 'blocked', label: 'Revoked' },
};
export const connectivityLabel = (connectivity: Connectivity) => CONNECTIVITY[connectivity];

const SYSTEMS: Record<string, string> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' };
/** `build-7 · Linux x64`, or undefined before the first session. */
export function hostText({ hostname, os, arch }: Pick<AgentRow, 'hostname' | 'os' | 'arch'>): string | undefined {
  if (!hostname) return undefined;
  return [hostname, os && `${SYSTEMS[os] ?? os} ${arch ?? ''}`.trim()].filter(Boolean).join(' · ');
}

/** Whether the file that runs there is one that we know. */
export function buildLabel(verified: boolean | null): { state: State; label: string } {
  if (verified === null) return { state: 'off', label: 'Not reported' };
  return verified ? { state: 'ok', label: 'Verified' } : { state: 'warning', label: 'Unknown build' };
}

export const COMMAND_LABELS: Record<Command['command'], string> = { doctor: 'Doctor', scan: 'Scan', refresh: 'Refresh', update: 'Update' };
export const COMMAND_STATES: Record<Command['status'], { state: State; label: string }> = {
  queued: { state: 'pending', label: 'Waiting' },
  sent: { state: 'pending', label: 'Running' },
  succeeded: { state: 'ok', label: 'Done' },
  failed: { state: 'failing', label: 'Failed' },
  expired: { state: 'expired', label: 'Not taken' },
};
