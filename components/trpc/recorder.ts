'use client';

import { useSyncExternalStore } from 'react';
import { masked, type SecretFields } from '#server/domain/explorer/masking.shared.ts';

/** A call that this tab made, as the developer pane shows it. What was typed into secret fields is gone before it gets here. */
export type RecordedCall = {
  key: string;
  /** What was called: a procedure of the dashboard, or a plain path of the session or dashboard plane. */
  what: { procedure: string; input: unknown } | { method: string; path: string; public: boolean; query?: string; body?: unknown };
  /** `mutation` writes to the audit log. */
  kind: 'query' | 'mutation';
  /** Absent: the status of the operation's success. */
  status?: number | undefined;
  error?: { code: string; message: string } | undefined;
  ms: number;
  at: number;
  request_id: string;
  /** The page that asked, by its path. */
  page: string;
  /** Asked on the server, while the page was being made. */
  served?: boolean;
};

const KEPT = 200;
let calls: readonly RecordedCall[] = [];
const readers = new Set<() => void>();

/** Notes a call, newest first; one that is known by its key is not noted twice. */
export function record(call: Omit<RecordedCall, 'page'>): void {
  if (calls.some(({ key }) => key === call.key)) return;
  set([{ ...call, page: window.location.pathname }, ...calls].slice(0, KEPT));
}

export const forgetCalls = () => set([]);

export const useRecordedCalls = (): readonly RecordedCall[] =>
  useSyncExternalStore(
    (notify) => {
      readers.add(notify);
      return () => readers.delete(notify);
    },
    () => calls,
    () => none,
  );

const none: readonly RecordedCall[] = [];

function set(next: readonly RecordedCall[]): void {
  calls = next;
  for (const notify of readers) notify();
}

let counted = 0;
export const nextKey = () => `call-${++counted}`;

/** The input of a procedure without what its fields mark as secret. */
export const shown = (procedure: string, input: unknown, secretFields: SecretFields): unknown =>
  masked(input, new Set(secretFields[procedure]));
