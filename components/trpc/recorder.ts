'use client';

import { useSyncExternalStore } from 'react';
import { SETTLE_MS } from '#components/ui/use-settled.ts';

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
export function record(call: Omit<RecordedCall, 'page'>, page = window.location.pathname): void {
  if (calls.some(({ key }) => key === call.key)) return;
  set([{ ...call, page }, ...calls].slice(0, KEPT));
}

type Shown = typeof import('./masked-input.ts').shown;
let shown: Shown | undefined;
const waiting: ((shown: Shown) => void)[] = [];

/**
 * Runs what notes a call once the rule of masking is there, which comes when the page has settled or somebody looks at its calls; without the rule
 * no call is noted.
 */
export function onceMasked(run: (shown: Shown) => void): void {
  if (shown) run(shown);
  else if (waiting.push(run) === 1) setTimeout(() => void fetchRule(), SETTLE_MS);
}

async function fetchRule(): Promise<void> {
  shown = await import('./masked-input.ts').then(
    (module) => module.shown,
    () => undefined,
  );
  for (const run of waiting.splice(0)) if (shown) run(shown);
}

/** Empties the list of the developer pane. */
export const forgetCalls = () => set([]);

/** The calls that this tab made, newest first. */
export const useRecordedCalls = (): readonly RecordedCall[] =>
  useSyncExternalStore(
    (notify) => {
      if (waiting.length > 0) void fetchRule();
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
/** A key for a call that has none of its own. */
export const nextKey = () => `call-${++counted}`;
