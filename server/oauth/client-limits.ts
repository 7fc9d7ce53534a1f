import type { Edge } from '#server/api/edge.ts';
import { clientById, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { recordFailedClient } from '#server/domain/oauth-grants/failed-clients.ts';
import { processState } from '#server/kernel/process-state.ts';
import { network, take } from '#server/platform/throttle.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { badClient, type Presented, provenClient, triedId } from './client-authentication.ts';
import type { OAuthProblem } from './problem.ts';
import { countRequest, tooMany } from './token-rules.ts';

const FAILURES = { limit: 20, window_sec: 300 };

/** The client of a request, authenticated, or public by its id. @throws OAuthProblem invalid_client, temporarily_unavailable after too many failures */
export async function authenticatedClient(presented: Presented, edge: Edge, now: Date): Promise<OAuthClient> {
  const until = refused.get(subjectOf(presented, edge)) ?? 0;
  if (until > now.getTime()) throw tooMany(Math.ceil((until - now.getTime()) / 1000), FAILED);
  const client = await provenClient(presented, edge.ip, now);
  if (!client) throw await failClient(presented, edge, now);
  return client;
}

/**
 * The refusal of a client that isn't proven: always the same, until there were too many of one id from one network (interface rule 21 §1.4). Counting
 * fails closed.
 */
export async function failClient(presented: Presented | null, edge: Edge, now: Date): Promise<OAuthProblem> {
  if (!presented) return badClient(null);
  const subject = subjectOf(presented, edge);
  const { allowed, retry_after } = await take({ what: 'oauth-client', subject, ...FAILURES }, now);
  if (!allowed) {
    if (refused.size > 10_000) refused.clear();
    refused.set(subject, now.getTime() + retry_after * 1000);
    return tooMany(retry_after, FAILED);
  }
  const client = await clientById(triedId(presented), now);
  if (client) await recordFailedClient(client, edge, now);
  return badClient(presented.method);
}

/** @throws OAuthProblem temporarily_unavailable; or with the error of the store, since this limit fails closed */
export const limitRequests = (client: OAuthClient, now: Date): Promise<void> => countRequest(client, now, windowCounter());

const FAILED = 'Client authentication failed too often from this address. Check the client secret and try again later.';

/** Until when an id is refused from a network: asking the store each time would slow every client down. */
const refused = processState('oauth-refused-clients', () => new Map<string, number>());

const subjectOf = (presented: Presented, { ip }: Edge): string => `${triedId(presented)}\n${network(ip)}`;
