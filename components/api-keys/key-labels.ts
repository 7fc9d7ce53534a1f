import type { z } from 'zod';
import { grouped } from '#components/ui/numbers.ts';
import type { ApiKey } from '#server/domain/api-keys/schema.ts';
import { KEY_ROLES } from '#server/domain/roles/catalogue.shared.ts';

export type Key = z.output<typeof ApiKey>;

export const TYPES = { standard: 'Standard', test: 'Test', access_key: 'Access key' } as const;

/** A role as people read it: `Editor`, not `Key - Editor`. */
export const roleName = (id: string): string => KEY_ROLES.find((role) => role.id === id)?.name.replace(/^Key - /, '') ?? 'Unknown role';

/** The role a new key starts with: calling routes, or reading for those who may not call. */
export const narrowestRole = (member: string): string[] => {
  const name = member === 'viewer' ? 'Key - Read-only' : 'Key - Invoke';
  return KEY_ROLES.filter((role) => role.name === name).map((role) => role.id);
};

/** Of the chosen roles, the one that gives all that another chosen one gives, and that other: a narrow role ticked beside it narrows nothing. */
export function swallowed(ids: readonly string[]): { wide: string; narrow: string } | undefined {
  const chosen = KEY_ROLES.filter(({ id }) => ids.includes(id));
  for (const narrow of chosen)
    for (const wide of chosen)
      if (wide !== narrow && [...narrow.capabilities].every((one) => wide.capabilities.has(one)))
        return { wide: roleName(wide.id), narrow: roleName(narrow.id) };
  return undefined;
}

/** "600 per minute", from requests and a window in seconds. */
export function limitInWords(requests: number | null, seconds: number | null): string | undefined {
  if (requests === null) return undefined;
  const window = seconds ?? 60;
  const named: Record<number, string> = { 1: 'second', 60: 'minute', 3600: 'hour', 86400: 'day' };
  return `${grouped(requests)} per ${named[window] ?? `${grouped(window)} seconds`}`;
}

export type State = { state: 'ok' | 'off' | 'expired' | 'warning'; label: string };

/** When the key stops working by itself: at its end, or when the time of overlap with its replacement is over. */
export const endOf = ({ expires_at, revoke_at }: Pick<Key, 'expires_at' | 'revoke_at'>): string | null =>
  [expires_at, revoke_at].filter((at) => at !== null).sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null;

/** Whether a key works, and whether it will soon stop. */
export function stateOf(key: Pick<Key, 'active' | 'revoked_at' | 'revoke_at' | 'expires_at'>, now = Date.now()): State {
  if (key.active && key.revoke_at) return { state: 'warning', label: 'Replaced' };
  if (key.active) {
    const days = key.expires_at ? (Date.parse(key.expires_at) - now) / 86_400_000 : Number.POSITIVE_INFINITY;
    return days <= 14 ? { state: 'warning', label: 'Expires soon' } : { state: 'ok', label: 'Active' };
  }
  if (key.expires_at && Date.parse(key.expires_at) <= now) return { state: 'expired', label: 'Expired' };
  return { state: 'off', label: 'Revoked' };
}

/** The two halves of a key, for tools that ask for a client id and a secret. Joined again they are the key. */
export function halvesOf(key: string, keyId: string): { client_id: string; client_secret: string } {
  return { client_id: keyId, client_secret: key.slice(keyId.length + 1) };
}
