import type { Edge } from '#server/api/edge.ts';
import { keyIdOf } from '#server/crypto/tokens.ts';
import { clientById, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { recordFailedClient } from '#server/domain/oauth-grants/failed-clients.ts';
import { processState } from '#server/kernel/process-state.ts';
import { network, take } from '#server/platform/throttle.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { badClient, type Presented, provenClient } from './client-authentication.ts';
import { OAuthProblem } from './problem.ts';

const FAILURES = { limit: 20, window_sec: 300 };
const REQUESTS_PER_MINUTE = 600;

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
  const client = await clientById(idOf(presented), now);
  if (client) await recordFailedClient(client, edge, now);
  return badClient(presented.method);
}

/** @throws OAuthProblem temporarily_unavailable; or with the error of the store, since limits fail closed here */
export async function limitRequests(client: OAuthClient, now: Date): Promise<void> {
  const seconds = Math.floor(now.getTime() / 1000);
  const window = Math.floor(seconds / 60);
  const used = await windowCounter()(`oauth-token:${client.id}`, window, 60, REQUESTS_PER_MINUTE + 1);
  if (used > REQUESTS_PER_MINUTE)
    throw tooMany(
      (window + 1) * 60 - seconds,
      `A client may ask for ${REQUESTS_PER_MINUTE} tokens a minute. Keep a token until it expires.`,
    );
}

const FAILED = 'Client authentication failed too often from this address. Check the client secret and try again later.';
const tooMany = (seconds: number, description: string) =>
  new OAuthProblem('temporarily_unavailable', description, 429, { 'retry-after': String(Math.max(1, seconds)) });

/** Until when an id is refused from a network: asking the store each time would slow every client down. */
const refused = processState('oauth-refused-clients', () => new Map<string, number>());

const subjectOf = (presented: Presented, { ip }: Edge): string => `${idOf(presented)}\n${network(ip)}`;

/** The id that was tried, as it is counted; of a key its public part, wherever it was split. */
function idOf({ readings: [first] }: Presented): string {
  const { id = '', secret } = first ?? { secret: null };
  const isKey = secret !== null && (id.startsWith('tk_') || id.startsWith('AKE'));
  return (isKey ? keyIdOf(id.startsWith('AKE') ? id : `${id}_${secret}`) : id).slice(0, 256).replaceAll('\0', '');
}
