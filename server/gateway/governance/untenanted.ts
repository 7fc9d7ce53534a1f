import type { IncomingMessage } from 'node:http';
import { type CapabilityFault, parseCapability } from '#server/crypto/capability-tokens.ts';
import type { Space } from '#server/kernel/context.ts';
import { lowerName } from '#server/platform/header-name.ts';
import type { GatewayResponse } from '../core/gateway-response.ts';
import { discardBody } from '../core/listener.ts';
import type { Runtime } from '../core/runtime.ts';
import { type About, untenantedLines } from '../core/untenanted-refusal.ts';
import { PARSE_MESSAGES } from './authenticate.ts';
import { type AiRefused, aiRefusal, aiStatus, envelope, refusalFields } from './envelope.ts';
import { countFailure, floodWait } from './flood.ts';
import { type Presentation, presentedToAi, presentedToMcp } from './presented.ts';

// Calls of the AI planes on the API host, which names no workspace: the token does (interface rule 51 §1).

export type Untenanted = { req: IncomingMessage; plane: string; space: Space; sourceAddress: string; runtime: Runtime };
export type Named = { tenantId: string } | { refusal: AiRefused; presented: boolean };

/** The workspace of a call, by its credential; or why there is none. Everything else about the credential is judged with the workspace. */
export async function tenantOf({ req, plane, space, sourceAddress, runtime }: Untenanted): Promise<Named> {
  if (!runtime.snapshots.fresh)
    return refuse(aiRefusal('ai_gateway_unavailable', 'The gateway is starting. Try again in a minute.'), false);
  const presented = presentedIn(req, plane);
  if (presented === 'none')
    return refuse(aiRefusal('missing_token', 'No credential was sent. Send a capability token as a bearer token.'), false);
  if (presented === 'conflict') return failed(sourceAddress, aiRefusal('malformed', 'Two different tokens were sent.'));
  const { text, scheme } = presented;
  const oauth = plane === 'mcp' && /^svc_(?:live|test)_/.test(text);
  const parsed = oauth ? null : scheme === 'other' ? ({ fault: 'bad_prefix' } as const) : parseCapability(text);
  if (parsed && 'fault' in parsed) return failed(sourceAddress, aiRefusal(parsed.fault as CapabilityFault, PARSE_MESSAGES[parsed.fault]));
  if (parsed && parsed.env !== space)
    return failed(sourceAddress, aiRefusal('bad_env', "This token is of the other space, so it can't be used on this host."));
  const wait = floodWait(sourceAddress, Date.now());
  if (wait > 0)
    return refuse(
      aiRefusal('rate_limited', 'Too many failed authentication attempts from this address. Try again later.', {
        retryAfter: wait,
        extra: { limit: 'address' },
      }),
      true,
    );
  try {
    const row = await (oauth ? runtime.tokens : runtime.capabilities).find(text);
    if (row === 'busy') return refuse(UNDECIDED, true);
    if (row !== null) return { tenantId: row.tenant_id };
  } catch {
    return refuse(UNDECIDED, true);
  }
  return failed(sourceAddress, aiRefusal(oauth ? 'invalid_token' : 'unknown_token', 'This token is unknown.'));
}

const UNDECIDED = aiRefusal('dependency_unavailable', "The gateway can't check the token. Try again shortly.");
const refuse = (refusal: AiRefused, presented: boolean): Named => ({ refusal, presented });

function failed(sourceAddress: string, refusal: AiRefused): Named {
  countFailure(sourceAddress, Date.now());
  return refuse(refusal, true);
}

function presentedIn(req: IncomingMessage, plane: string): Presentation {
  const names = req.rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [lowerName(name)] : []));
  const head = { authorization: req.headers.authorization ?? null, names, req };
  return plane === 'mcp' ? presentedToMcp(head) : presentedToAi(head);
}

/** Both are one plane to callers. */
const PLANE = 'ai';

/** Answers a call that belongs to no workspace. It is in no log: there is nobody to show it to. */
export function refuseUntenanted(
  req: IncomingMessage,
  res: GatewayResponse,
  about: About & { challenge: string | undefined },
  { refusal, presented }: Extract<Named, { refusal: AiRefused }>,
): void {
  const { plane, challenge, requestId, began } = about;
  const status = aiStatus(refusal);
  const latency = Math.round(performance.now() - began);
  const base = challenge ?? `Bearer realm="${plane}"`;
  const shown = status === 401 ? `${base}${presented ? ', error="invalid_token"' : ''}` : undefined;
  const body = envelope(refusal, requestId, PLANE, latency);
  const lines = untenantedLines({ ...about, plane: PLANE }, refusal.code, latency);
  const fields = refusalFields(shown === undefined ? refusal : { ...refusal, challenge: shown }, body);
  if (!req.complete && req.headers.expect !== undefined) fields.push('Connection', 'close');
  res.begin(status, undefined, { lines, fields }).end(req.method === 'HEAD' ? undefined : body);
  discardBody(req);
}
