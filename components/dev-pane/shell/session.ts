'use client';

import { useSyncExternalStore } from 'react';
import type { ApiField, ApiOperation } from '#components/explorer/document.ts';
import type { Command } from './commands.ts';
import type { Shown } from './output.ts';

export type Output =
  | { kind: 'answer'; shown: Shown; as: 'table' | 'json'; status: number; ms: number }
  | { kind: 'problem'; what: 'Not sent' | 'Refused' | 'Failed'; message: string; next?: string | undefined; requestId?: string | undefined }
  | { kind: 'help'; commands: readonly Command[] }
  | { kind: 'note'; text: string }
  | { kind: 'lines'; lines: readonly string[] };
/** A line and what came of it; without output it is still being carried out. */
export type Entry = { key: number; line?: string; output?: Output };
/** What a call waits for before it is sent. */
export type Question =
  | { kind: 'secret'; field: ApiField; command: Command; dropped: boolean; answer: (value: string | undefined) => void }
  | { kind: 'confirm'; op: ApiOperation; path: string; answer: (yes: boolean) => void };
/** A call under way; `sent`: the service may have it. */
export type Running = { controller: AbortController; sent: boolean };
export type Session = { entries: readonly Entry[]; question?: Question | undefined; running?: Running | undefined };
/** Whose shell, and where its lines go. */
type SessionPlace = { person: string; slug: string; space: string };

const MOST = 60;
const EMPTY: Session = { entries: [] };
// Above the pane, which may be closed while a call runs: its answer is here when it is opened again. Gone with the tab.
const sessions = new Map<string, Session>();
const readers = new Set<() => void>();
const keyOf = ({ person, slug, space }: SessionPlace) => `${person}/${slug}/${space}`;
let counted = 0;

/** What was typed and answered in a shell, and what it waits for. */
export function useSession(place: SessionPlace): Session {
  return useSyncExternalStore(
    (notify) => {
      readers.add(notify);
      return () => readers.delete(notify);
    },
    () => sessionOf(place),
    () => EMPTY,
  );
}

export const sessionOf = (place: SessionPlace): Session => sessions.get(keyOf(place)) ?? EMPTY;

/** Changes a session. Those of anybody else end: one tab has one person. */
export function change(place: SessionPlace, next: Partial<Session>): void {
  for (const key of sessions.keys()) if (!key.startsWith(`${place.person}/`)) sessions.delete(key);
  sessions.set(keyOf(place), { ...sessionOf(place), ...next });
  for (const notify of readers) notify();
}

/** Adds a line, and tells its key. The oldest goes when there are too many. */
export function addEntry(place: SessionPlace, entry: Omit<Entry, 'key'>): number {
  const key = ++counted;
  change(place, { entries: [...sessionOf(place).entries, { ...entry, key }].slice(-MOST) });
  return key;
}

/** Writes what came of a line; one that was cleared away meanwhile stays away. */
export function setOutput(place: SessionPlace, key: number, output: Output): void {
  change(place, { entries: sessionOf(place).entries.map((entry) => (entry.key === key ? { ...entry, output } : entry)) });
}
