import type { z } from 'zod';
import type { Secret } from '#server/domain/secrets/schema.ts';

type SecretOut = z.output<typeof Secret>;
type Row = Pick<SecretOut, 'expires_at' | 'strict_expiry_enforcement' | 'rotation_due_at'> & {
  environments: readonly Pick<SecretOut['environments'][number], 'environment_name' | 'value_version' | 'expires_at_override'>[];
};
export type CellState = { state: 'missing' } | { state: 'set' | 'expiring' | 'expired'; version: number; ends_at: string | null };
export type Health = 'ok' | 'empty' | 'due' | 'expiring' | 'expired';

const DAY = 86_400_000;
/** From so many days before its end a value is shown as ending, as the first reminder is sent (interface rule 30 §9). */
export const SOON_DAYS = 30;

/** What one environment holds. A date of its own stands in for the secret's. */
export function cellOf(secret: Row, environment: string, now: number): CellState {
  const value = secret.environments.find((one) => one.environment_name === environment);
  if (!value) return { state: 'missing' };
  const ends_at = value.expires_at_override ?? secret.expires_at;
  const left = ends_at === null ? Number.POSITIVE_INFINITY : Date.parse(ends_at) - now;
  return { state: left <= 0 ? 'expired' : left <= SOON_DAYS * DAY ? 'expiring' : 'set', version: value.value_version, ends_at };
}

/** The worst of its values, and the first end among them; without values the secret serves no call. */
export function healthOf(secret: Row, now: number): { health: Health; ends_at: string | null } {
  const cells = secret.environments.map((value) => cellOf(secret, value.environment_name, now));
  const ends = cells
    .flatMap((cell) => (cell.state !== 'missing' && cell.ends_at ? [cell.ends_at] : []))
    .sort((a, b) => Date.parse(a) - Date.parse(b));
  const ends_at = ends[0] ?? null;
  if (cells.length === 0) return { health: 'empty', ends_at: secret.expires_at };
  if (cells.some((cell) => cell.state === 'expired')) return { health: 'expired', ends_at };
  if (cells.some((cell) => cell.state === 'expiring')) return { health: 'expiring', ends_at };
  if (secret.rotation_due_at && Date.parse(secret.rotation_due_at) <= now) return { health: 'due', ends_at };
  return { health: 'ok', ends_at };
}
