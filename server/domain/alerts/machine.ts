import { MINUTE, minuteOf } from './watched.ts';

export type Step = 'none' | 'open' | 'holds' | 'clean' | 'waits' | 'resolve';

/**
 * What comes of an alert's subject at a look: an incident opens when the condition holds, and ends when it hasn't held for two windows without a break: the one
 * before the first clean look, and one more. `window` in minutes.
 */
export function step(open: { clean_since: Date | null } | null, holds: boolean, now: Date, window: number): Step {
  if (!open) return holds ? 'open' : 'none';
  if (holds) return 'holds';
  if (open.clean_since === null) return 'clean';
  return minuteOf(now) - minuteOf(open.clean_since) >= window ? 'resolve' : 'waits';
}

type Told = { messages: number; last_message_at: Date | null; acknowledged_at: Date | null };
type Rules = { muted_until: Date | null; cooldown_minutes: number };

/**
 * Whether a firing incident is told of now: at its start, unless its alert told of the same subject within the cooldown, and once every cooldown while nobody has
 * acknowledged it. A mute holds both back.
 */
export function messageDue({ messages, last_message_at, acknowledged_at }: Told, { muted_until, cooldown_minutes }: Rules, now: Date) {
  if (isMuted(muted_until, now) || acknowledged_at !== null) return null;
  if (last_message_at !== null && now.getTime() - last_message_at.getTime() < cooldown_minutes * MINUTE) return null;
  return messages === 0 ? ('opened' as const) : ('reminder' as const);
}

export const isMuted = (until: Date | null, now: Date): boolean => until !== null && until > now;
