import type { Grant } from '#server/kernel/guarded-capabilities.ts';

/** What an agent does on its host (interface rule 63 §1). */
export const MODES = ['control', 'intercept', 'server', 'proxy'] as const;
export type AgentMode = (typeof MODES)[number];
/** In these modes secrets are decrypted on the customer's machine. */
export const decryptsThere = (mode: string): boolean => mode === 'server' || mode === 'proxy';

/** What an agent of a mode may do by itself that a person confirms: call routes with what they inject, or decrypt as well. */
export const GRANTS: Readonly<Record<AgentMode, readonly Grant[]>> = {
  control: [],
  intercept: ['agent:create_server on calls'],
  server: ['agent:create_server'],
  proxy: ['agent:create_server'],
};

export const COMMANDS = ['doctor', 'scan', 'refresh', 'update'] as const;
export const COMMAND_STATES = ['queued', 'sent', 'succeeded', 'failed', 'expired'] as const;
export const CONNECTIVITY = ['never_connected', 'online', 'stale', 'offline', 'revoked'] as const;
export type Connectivity = (typeof CONNECTIVITY)[number];

const MINUTE = 60_000;
export const STALE_AFTER_MS = 3 * MINUTE;
export const OFFLINE_AFTER_MS = 15 * MINUTE;

type Seen = { status: string; last_heartbeat_at: Date | null };
/** Judged by the last accepted heartbeat (interface rule 63 §6). */
export function connectivityOf({ status, last_heartbeat_at }: Seen, now: Date): Connectivity {
  if (status === 'revoked') return 'revoked';
  if (!last_heartbeat_at) return 'never_connected';
  const silence = now.getTime() - last_heartbeat_at.getTime();
  if (silence < STALE_AFTER_MS) return 'online';
  return silence <= OFFLINE_AFTER_MS ? 'stale' : 'offline';
}
