import { RECENT_PREFIX } from '#components/shell/recents.ts';

const KEPT = 100;
/** With what was visited, so that signing out takes it along. No workspace has a colon in its name. */
const keyOf = (person: string) => `${RECENT_PREFIX}shell:${person}`;

/** The lines a person typed on this device, oldest first. Nothing that may be a credential is among them: see `toldOf`. */
export function keptLines(person: string): string[] {
  try {
    const lines: unknown = JSON.parse(localStorage.getItem(keyOf(person)) ?? '[]');
    return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
  } catch {
    return []; // no storage, or not ours
  }
}

/** Keeps a line as the newest; one that is there already moves. */
export function keepLine(person: string, line: string): void {
  try {
    const others = keptLines(person).filter((one) => one !== line);
    localStorage.setItem(keyOf(person), JSON.stringify([...others, line].slice(-KEPT)));
  } catch {
    // private windows may have no storage; the shell works without
  }
}

/** Forgets all of them. */
export function forgetLines(person: string): void {
  try {
    localStorage.removeItem(keyOf(person));
  } catch {
    // nothing was kept
  }
}
