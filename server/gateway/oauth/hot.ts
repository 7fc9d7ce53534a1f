import type { IncomingMessage } from 'node:http';
import { type Finished, finished, json } from '#server/api/respond.ts';
import { issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { GRANTS, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { introspection } from '#server/domain/oauth-grants/introspection.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { type Presented, presentedClient, provenClient, triedId } from '#server/oauth/client-authentication.ts';
import { type Form, parseForm } from '#server/oauth/form.ts';
import { clientCredentials } from '#server/oauth/grants/client-credentials.ts';
import { asOAuthProblem, OAuthProblem, problemWire } from '#server/oauth/problem.ts';
import { assertMayUse, countRequest } from '#server/oauth/token-rules.ts';
import { stampUse } from '#server/platform/credential-usage.ts';
import { log } from '#server/platform/log.ts';
import { memoryCounter, type WindowCounter } from '#server/platform/window-counter.ts';
import type { ReadBody } from '../core/request-body.ts';
import type { AccessTokens } from '../credentials/access-tokens.ts';
import { lru } from '../credentials/lru.ts';
import type { OAuthClients } from '../credentials/oauth-clients.ts';
import { isOdd } from '../v1/plain-request.ts';

// The two calls of the authorization server that machines make all the time, without Next: minting by client_credentials, and introspection.

export type HotOAuthCall = {
  target: string;
  space: 'live' | 'test';
  address: string;
  requestId: string;
  body(): Promise<ReadBody>;
};

export type HotOAuth = {
  /** The answer to a plain request that succeeds, by the rules of web. Null, now or later, when web must answer. Never rejects. */
  answer(req: IncomingMessage, call: HotOAuthCall): Promise<Finished | null> | null;
};

/** After a failed authentication web decides about this id from this address for as long as it counts failures. */
const SUSPECT_MS = 300_000;
const MAX_SUSPECTS = 20_000;

export type HotOAuthOptions = {
  /** What this gateway remembers for a moment. */
  clients: Pick<OAuthClients, 'find'>;
  tokens: Pick<AccessTokens, 'find'>;
  /** The counter that all processes share; null when each counts for itself. */
  count(): WindowCounter | null;
};

export function createHotOAuth({ clients, tokens, count }: HotOAuthOptions): HotOAuth {
  /** @throws Busy */
  const known = async <Row>(found: Row | null | 'busy' | Promise<Row | null | 'busy'>): Promise<Row | null> => {
    const row = await found;
    if (row === 'busy') throw new Busy();
    return row;
  };
  const suspects = lru<number>(MAX_SUSPECTS);
  const own = memoryCounter();

  async function answer(req: IncomingMessage, path: Path, { space, address, requestId, body }: HotOAuthCall): Promise<Finished | null> {
    const sent = await body();
    if (sent.state !== 'whole') return null;
    const now = new Date();
    const form = parseForm(req.headers['content-type'] ?? null, sent.body);
    if (path === '/oauth/token' && form.get('grant_type') !== GRANTS.client_credentials) return null;
    const presented = presentedClient(req.headers.authorization ?? null, form);
    const client = presented && (await proven(presented, address || null, now));
    if (client?.type !== 'confidential') return null;
    const edge = { space, ip: address || null, request_id: requestId, user_agent: req.headers['user-agent'] ?? null };
    const answered = path === '/oauth/token' ? await mint(client, { form, edge, now }) : await introspect(client, form, space, now);
    return answered && finished(json(200, answered, { pragma: 'no-cache' }), requestId, 'uncompressed');
  }

  async function proven(presented: Presented, ip: string | null, now: Date): Promise<OAuthClient | null> {
    const subject = `${triedId(presented)}\n${ip}`;
    if ((suspects.get(subject) ?? 0) > now.getTime()) return null;
    const client = await provenClient(presented, ip, now, (id) => known(clients.find(id)));
    if (!client) suspects.set(subject, now.getTime() + SUSPECT_MS);
    return client;
  }

  async function mint(client: OAuthClient, { form, edge, now }: Pick<Parameters<typeof clientCredentials>[0], 'form' | 'edge' | 'now'>) {
    if (client.require_dpop) return null;
    assertMayUse(client, GRANTS.client_credentials);
    await countRequest(client, now, count() ?? own);
    const issued = await clientCredentials({ form, edge, client, alias: false, now, proof: null });
    void stampUse(client, [client.id, client.source_api_key_id], edge.ip, now);
    return issued;
  }

  const introspect = (client: OAuthClient, form: Form, space: 'live' | 'test', now: Date) => {
    const token = form.get('token');
    return token === undefined
      ? null
      : introspection(token, client, issuerOf(space), now, async (text) => (await known(tokens.find(text))) ?? undefined);
  };

  return {
    answer(req, call) {
      const path = PATHS.find((one) => one === call.target);
      if (path === undefined || req.method !== 'POST' || isOdd(req)) return null;
      return answer(req, path, call).catch((error: unknown) => refused(error, call.requestId));
    },
  };
}

/** Too many unknown credentials are being looked up: web takes its turn. */
class Busy extends Error {}

const PATHS = ['/oauth/token', '/oauth/introspect'] as const;
type Path = (typeof PATHS)[number];

/** Over its limit a client is told here, where it was counted. Any other refusal is web's to say, which counts and audits it. */
function refused(error: unknown, requestId: string): Promise<Finished> | null {
  if (error instanceof OAuthProblem && error.status === 429) return finished(problemWire(asOAuthProblem(error)), requestId, 'uncompressed');
  if (!(error instanceof OAuthProblem) && !(error instanceof Busy) && asRefusal(error).type === 'internal_error')
    log.warn({ err: error }, 'a call of the authorization server failed in the gateway; web answers');
  return null;
}
