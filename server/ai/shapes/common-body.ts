import { countAt, type JsonObject } from '../json.ts';
import type { Clamped } from './adapter.ts';

/** How many answers a body asks for; lenient providers also read a number in a string. */
export function timesAt(body: JsonObject, member: string): number {
  const asked = Number(body[member] ?? 1);
  return Number.isFinite(asked) ? Math.min(128, Math.max(1, Math.floor(asked))) : 1;
}

/** Deletes members of a body. */
export function withNothing(body: JsonObject, ...members: readonly string[]): void {
  for (const member of members) delete body[member];
}

/**
 * Lowers each member that asks for more than the ceiling, and what is no count at all; with none of them present, the ceiling is inserted as `insert`.
 */
export function clampMembers(body: JsonObject, members: readonly string[], insert: string, ceiling: number): Clamped {
  const present = members.filter((member) => body[member] !== undefined && body[member] !== null);
  const over = present.filter((member) => {
    const asked = countAt(body, member);
    return asked === undefined || asked < 1 || asked > ceiling || asked !== body[member];
  });
  for (const member of over) body[member] = ceiling;
  if (present.length === 0) body[insert] = ceiling;
  return over.length > 0 ? { clamped: ceiling, warnings: [] } : { warnings: [] };
}
