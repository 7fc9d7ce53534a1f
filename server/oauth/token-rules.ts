import { GRANTS, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import type { WindowCounter } from '#server/platform/window-counter.ts';
import { OAuthProblem } from './problem.ts';

// What holds for every request of a token by a client. Loads no Prisma: the gateway asks too.

const REQUESTS_PER_MINUTE = 600;

/** @throws OAuthProblem unauthorized_client */
export function assertMayUse(client: OAuthClient, grantType: string): void {
  if (!client.grant_types.includes(grantType) || (client.type === 'public' && grantType === GRANTS.client_credentials))
    throw new OAuthProblem(
      'unauthorized_client',
      `This client may not use the grant ${grantType}. Its grants: ${client.grant_types.join(', ')}.`,
    );
}

/** @throws OAuthProblem temporarily_unavailable; or with the error of the store, since this limit fails closed */
export async function countRequest(client: OAuthClient, now: Date, count: WindowCounter): Promise<void> {
  const seconds = Math.floor(now.getTime() / 1000);
  const window = Math.floor(seconds / 60);
  const used = await count(`oauth-token:${client.id}`, window, 60, REQUESTS_PER_MINUTE + 1);
  if (used > REQUESTS_PER_MINUTE)
    throw tooMany(
      (window + 1) * 60 - seconds,
      `A client may ask for ${REQUESTS_PER_MINUTE} tokens a minute. Keep a token until it expires.`,
    );
}

/** `temporarily_unavailable` with how long to wait, in seconds. */
export const tooMany = (seconds: number, description: string) =>
  new OAuthProblem('temporarily_unavailable', description, 429, { 'retry-after': String(Math.max(1, seconds)) });
