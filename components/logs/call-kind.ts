import type { z } from 'zod';
import type { LogView } from '#server/domain/request-logs/browse.schema.ts';

export type Log = z.output<typeof LogView>;

/** Whether the caller got an answer of ours instead of the upstream's. */
export const refusedByUs = (log: Pick<Log, 'origin' | 'error'>): boolean => log.origin === 'service' && log.error !== null;

export const FAULT_OF_UPSTREAM = /^upstream_/;

/** How a call ended, as the server's filter of that name sorts it. */
export function outcomeOf({ error, status_code }: Pick<Log, 'error' | 'status_code'>): 'ok' | 'failed' | 'refused' {
  if (error === null) return (status_code ?? 0) >= 500 ? 'failed' : 'ok';
  return FAULT_OF_UPSTREAM.test(error) || error === 'client_closed' ? 'failed' : 'refused';
}

/** Sent from the Test tab of a route; in the log, and in no figure. */
export const isTestCall = (log: Pick<Log, 'proxy_mode'>): boolean => log.proxy_mode === 'test';
