import type { Redis } from 'ioredis';
import { asOurs } from '#server/kernel/outage.ts';

/** How long a decision may wait for the counter store before it is made without. */
export const COUNTER_DEADLINE_MS = 250;

/** What a store that fails is told as: the driver's own errors have no code that says so. */
export const storeAway = (cause?: unknown): Error =>
  asOurs(Object.assign(new Error('the counter store is not responding', { cause }), { code: 'ETIMEDOUT' }));

/**
 * A connection to the counter store that keeps coming back by itself and never queues: a command fails within the deadline, or at once while there is
 * no connection. Resolves when connected, or after a second without.
 */
export async function openRedis(url: string, onError: (error: Error) => void): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: COUNTER_DEADLINE_MS,
    connectTimeout: 2_000,
    lazyConnect: true,
    retryStrategy: (times) => Math.min(times * 50, 1_000),
  });
  redis.on('error', onError);
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 1_000);
  });
  // It goes on trying; whoever counts meanwhile decides what that means.
  await Promise.race([redis.connect().catch(() => undefined), patience]);
  clearTimeout(timer);
  return redis;
}
