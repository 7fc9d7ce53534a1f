import { type AccessToken, currentScopes } from '#server/domain/oauth-grants/access-tokens.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { log } from '#server/platform/log.ts';
import type { PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { callerOf } from '../../core/token-caller.ts';
import type { Busy } from '../../credentials/keyed-lookup.ts';
import { deny } from '../../governance/authenticate.ts';
import { aiRefusal } from '../../governance/envelope.ts';
import { floodWait } from '../../governance/flood.ts';
import type { Presented } from '../../governance/presented.ts';
import type { TokenFacts } from '../../governance/principal.ts';
import { judgeProof } from '../../governance/proof.ts';
import { MCP_PLANE } from '../governed-plane.ts';
import type { McpCall } from '../mcp-call.ts';
import { isResource } from '../resources.ts';

/**
 * An access token of the authorization server, made for one MCP server (interface rule 52 §4, row 17): it stands for a person, who may use all the tools that
 * the server allows. Its row is read again within a second, so leaving the workspace ends it.
 */
export function authenticatePerson(call: McpCall, runtime: Runtime, presented: Presented): PhaseResult | Promise<PhaseResult> {
  if (!runtime.snapshots.fresh) return aiRefusal('ai_gateway_unavailable', 'The gateway is starting. Try again in a minute.');
  call.state.presented = presented;
  const wait = floodWait(call.sourceAddress, call.receivedAt);
  if (wait > 0) return aiRefusal('rate_limited', FLOOD, { retryAfter: wait, extra: { limit: 'address' } });
  const found = runtime.tokens.find(presented.text);
  if (!(found instanceof Promise)) return judge(call, found);
  return found.then(
    (token) => judge(call, token),
    (error: unknown) => {
      log.debug({ err: error, request_id: call.requestId }, 'an access token could not be looked up');
      return UNDECIDED;
    },
  );
}

const FLOOD = 'Too many failed authentication attempts from this address. Try again later.';
const UNDECIDED = aiRefusal('dependency_unavailable', "The gateway can't check the access token. Try again shortly.");
/** RFC 6750 §3.1: to a resource that it wasn't made for, a token is an invalid one, so its client signs in again. */
const OTHER_RESOURCE = aiRefusal('invalid_target', 'This access token was made for another resource. Sign in again at this server.', {
  status: 401,
});
const INVALID = aiRefusal('invalid_token', 'This access token is not valid. Sign in again.');

function judge(call: McpCall, token: AccessToken | null | Busy): PhaseResult | Promise<PhaseResult> {
  if (token === 'busy') return UNDECIDED;
  const { tenant, sandbox, space } = call.snapshot;
  // A token of another workspace isn't told apart from one that doesn't exist.
  if (token === null || token.user_id === null || token.tenant_id !== tenant.id || callerOf(token).endsAt <= call.receivedAt)
    return refuse(call, INVALID);
  if (token.sandbox !== sandbox)
    return refuse(
      call,
      aiRefusal('bad_env', space === 'live' ? "A Test token can't call the Live host." : "A Live token can't call the Test host."),
    );
  if (!tenant.servable)
    return refuse(call, aiRefusal('tenant_unavailable', "This workspace can't be served: its subscription is not active."));
  call.state.token = factsOf(token);
  if (token.cnf_jkt === null) return admit(call, token);
  return judgeProof(call, token.cnf_jkt).then((refusal) => (refusal ? refuse(call, refusal) : admit(call, token)));
}

function admit(call: McpCall, token: AccessToken): PhaseResult | Promise<PhaseResult> {
  const { tenant, space } = call.snapshot;
  const { place, token: facts } = call.state;
  const { serversBySlug } = call.snapshot.mcp;
  const exists = place.kind === 'aggregate' || (place.kind === 'server' && serversBySlug.has(place.slug));
  // The guard answers for a server that doesn't exist; the order of its rows is normative.
  if (exists && (token.aud === null || !isResource(token.aud, tenant.slug, space, place))) return refuse(call, OTHER_RESOURCE);
  if (!currentScopes(token, new Date(call.receivedAt)).includes('mcp:tools'))
    return refuse(call, aiRefusal('insufficient_scope', 'This access token lacks the scope mcp:tools.'));
  if (facts?.allows && !facts.allows(call.sourceAddress))
    return refuse(call, aiRefusal('ip_cidr_mismatch', "This token can't be used from this IP address."));
  if (!facts) return aiRefusal('missing_auth', 'The call was not authenticated.');
  const server = place.kind === 'server' ? serversBySlug.get(place.slug) : undefined;
  const gateway = server ? (call.snapshot.ai.gatewaysById.get(server.gatewayId) ?? null) : null;
  const user = token.user_id === null ? null : { externalId: token.email ?? token.user_id, id: null, team: null };
  call.state.principal = {
    tenantId: tenant.id,
    space,
    token: { ...facts, gatewayId: server?.gatewayId ?? '' },
    gateway,
    agent: null,
    user,
  };
  call.state.person = token.user_id;
  call.admitted = true;
  return undefined;
}

const refuse = (call: McpCall, refusal: Parameters<typeof deny>[2]) => deny(call, MCP_PLANE, refusal);

const compiled = new WeakMap<AccessToken, TokenFacts>();

/** An access token in the words of capability tokens: kind tool, of no agent, narrowed by nothing. */
function factsOf(token: AccessToken): TokenFacts {
  const known = compiled.get(token);
  if (known) return known;
  const facts = {
    id: token.id,
    name: token.client_name,
    kind: 'tool',
    prefix: `svc_${token.sandbox ? 'test' : 'live'}_`,
    scope: {},
    gatewayId: '',
    agentId: null,
    expiresAt: token.expires_at.getTime(),
    createdBy: token.user_id,
    subjects: callerOf(token).subjects,
    origin: 'oauth',
    window: null,
    allows: token.ip_allowlist && token.ip_allowlist.length > 0 ? compileRanges(token.ip_allowlist) : null,
    // What only rows of capability tokens have is never asked of these.
    row: null as never,
  } satisfies TokenFacts;
  compiled.set(token, facts);
  return facts;
}
