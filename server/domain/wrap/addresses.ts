import type { Space } from '#server/kernel/context.ts';
import { env } from '#server/platform/env.ts';

/** Set when the operator serves gateway tokens as host names. */
export const wrapBaseHost = (): string | undefined => env.WRAP_BASE_HOST;

/** What an SDK takes for the address of its provider (interface rule 33 §8.2). */
export function wrapUrl({ token, host, style, space }: { token: string; host: string; style: 'path' | 'subdomain'; space: Space }): string {
  if (style === 'subdomain') return `https://${token.slice('wkt_'.length)}.${env.WRAP_BASE_HOST}`;
  return `${space === 'test' ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL}/wg/${token}/${host}`;
}
