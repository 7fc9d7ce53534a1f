import type { AiCode } from '#server/ai/codes.ts';
import { providerOf } from '#server/ai/providers/catalogue.ts';
import { credentialFor, defaultHeaders } from '#server/ai/providers/serve.ts';
import type { Reference } from '#server/domain/templates/grammar.ts';
import type { Refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { CREDENTIAL_HEADERS } from '../../governance/presented.ts';
import type { CallConfig } from '../../snapshot/model.ts';
import { injectHeaders, withQuery } from '../../templates/inject.ts';
import { newResolution, type Resolution } from '../../templates/resolution.ts';
import { resolve } from '../../templates/resolve.ts';
import { scrubAnswer } from '../../templates/scrubbed-answer.ts';
import { chooseTarget, egressAllowed } from '../../templates/target.ts';
import { sign } from '../../upstream-auth/sign.ts';
import type { AiCall } from '../ai-call.ts';
import type { Candidate } from './candidates.ts';
import type { Outgoing } from './outgoing.ts';
import { providerCredential } from './provider-credential.ts';
import { hasRested, nextKey, restKey } from './provider-keys.ts';

/** Never forwarded (interface rule 51 §2): credentials in every spelling, cookies, what we decide ourselves, and the account that the escrowed key decides. */
const NEVER = [
  ...CREDENTIAL_HEADERS,
  'cookie',
  'accept-encoding',
  'openai-organization',
  'content-encoding',
  'origin',
  'referer',
  'service-version',
  // A part of Google's answer, without its count of tokens; and another method than the one that was judged.
  'x-goog-fieldmask',
  'x-http-method-override',
];
const droppedOf = new WeakMap<CallConfig, ReadonlySet<string>>();

/**
 * Points the call at a candidate: its target, judged anew; its credential, opened anew; its signature, over what is sent. Nothing has been sent when it
 * refuses. The values of secrets that it used are in the resolution, for masking.
 */
export async function prepare(call: AiCall, runtime: Runtime, candidate: Candidate, outgoing: Outgoing): Promise<Resolution | AiRefused> {
  const { route, environment, provider } = candidate;
  const config = environment.config(call.method);
  const unfit = unusable(config);
  if (unfit !== undefined) return aiRefusal('upstream_not_configured', `The route of this agent ${unfit}.`);
  const { state } = call;
  state.route = route;
  state.environmentName = environment.name;
  state.config = config;
  call.body = outgoing.body;
  call.forwarding = {
    timeoutMs: 0,
    retryAttempts: 0,
    droppedHeaders: droppedFor(config, outgoing, state.body !== null),
    dropsAmazon: true,
    forwardClientIp: false,
  };
  call.wholeAnswer = true;
  call.scrub = null;
  const resolution = newResolution(false);
  const failed =
    (await chooseTarget(call, runtime, config, resolution, '')) ??
    egressAllowed(call) ??
    (await takeKey(call, runtime, candidate, config, resolution)) ??
    (await resolve(call, runtime, config.references.head, 'configuration', resolution));
  if (failed) return refusalOf(failed);
  if (resolution.secrets.size > 0) call.secretsUsed = [...resolution.secrets.keys()];
  const credential = await providerCredential(call, runtime, config, provider, resolution);
  if ('code' in credential) return credential;
  const injected: string[] = [];
  const headers = injectHeaders(config, resolution.configuration, injected);
  if (headers !== null && 'code' in headers) return refusalOf(headers);
  call.injectedHeaders = [
    ...asTheDoorWants(headers ?? [], provider, outgoing),
    ...defaultsOf(call, provider),
    // The body was written anew, as JSON in UTF-8, whatever the caller's Content-Type would have it read as.
    ...(state.body === null || outgoing.body === null ? [] : ['Content-Type', 'application/json']),
  ];
  const target = call.upstream;
  if (target === null) return aiRefusal('internal_error', 'The call has no target.');
  const asked = outgoing.target(target, credential.project);
  const mark = asked.indexOf('?');
  const [path, query] = mark < 0 ? [asked, null] : [asked.slice(0, mark), asked.slice(mark + 1)];
  call.upstreamPath = withQuery(path, query, config, resolution.configuration, injected);
  call.injected = injected;
  if (credential.bearer !== null) call.injectedHeaders.push('Authorization', `Bearer ${credential.bearer}`);
  else if (config.upstreamAuth) {
    const unsigned = await sign(call, runtime, config.upstreamAuth, resolution);
    // A secret that can't sign is no credential.
    if (unsigned) return refusalOf(unsigned, 'upstream_credential_unavailable');
  }
  const hidden = scrubAnswer(call, resolution);
  return hidden ? refusalOf(hidden) : resolution;
}

/**
 * Puts the value of the agent's key whose turn it is in the place of the route's own secret, which is not opened then. A key that can't be used rests, and the
 * next one is taken; undefined also where the agent has no keys.
 */
async function takeKey(
  call: AiCall,
  runtime: Runtime,
  candidate: Candidate,
  config: CallConfig,
  into: Resolution,
): Promise<Refused | undefined> {
  call.state.providerKey = null;
  const places = config.references.head.filter(({ kind }) => kind === 'secret_id');
  for (;;) {
    const id = places.length === 0 ? null : nextKey(call, candidate);
    if (id === null) return undefined;
    const key: Reference = { kind: 'secret_id', id };
    const failed = await resolve(call, runtime, [key], 'configuration', into);
    const value = into.configuration.get(key);
    if (!failed && value !== undefined) {
      for (const place of places) into.configuration.set(place, value);
      call.state.providerKey = id;
      return undefined;
    }
    restKey(call, id);
    if (!hasRested(call, candidate)) return failed;
  }
}

/** What a route may ask for and this plane can't do: such a call isn't sent without it. */
function unusable(config: CallConfig): string | undefined {
  if (config.tls !== null) return 'has certificates for its upstream, which calls of agents are not subject to';
  if (config.malformed !== null) return `has a template that ${config.malformed}`;
  if (config.fields !== null) return 'changes fields of its bodies, which calls of agents are not subject to';
  return config.body === null ? undefined : 'puts values into bodies, which calls of agents are not subject to';
}

/** Google's OpenAI-compatible door wants the key as a bearer token, and the route was composed for its own API. */
function asTheDoorWants(headers: readonly string[], provider: string, { way }: Outgoing): readonly string[] {
  const known = provider === 'custom' ? undefined : providerOf(provider);
  if (known?.credential.kind !== 'header') return headers;
  const wanted = credentialFor(known, way.shape);
  const own = known.credential;
  if (wanted.kind !== 'header' || wanted.name === own.name) return headers;
  return headers.map((text, i) => {
    const at = i % 2 === 0 ? text : (headers[i - 1] as string);
    if (at.toLowerCase() !== own.name.toLowerCase()) return text;
    return i % 2 === 0 ? wanted.name : `${wanted.prefix}${text}`;
  });
}

function droppedFor(config: CallConfig, { dropped }: Outgoing, isJson: boolean): ReadonlySet<string> {
  const never = neverForwarded(config);
  return dropped.size > 0 || isJson ? new Set([...never, ...dropped, ...(isJson ? ['content-type'] : [])]) : never;
}

function neverForwarded(config: CallConfig): ReadonlySet<string> {
  const known = droppedOf.get(config);
  if (known) return known;
  const dropped = new Set([...config.droppedHeaders, ...NEVER]);
  droppedOf.set(config, dropped);
  return dropped;
}

/** Headers that a provider asks for, unless the caller sent them. */
function defaultsOf({ names }: AiCall, provider: string): string[] {
  return Object.entries(defaultHeaders(provider)).flatMap(([name, value]) => (names.includes(name) ? [] : [name, value]));
}

const BLOCKED = new Set(['upstream_not_allowed', 'egress_denied']);
const CREDENTIAL = /^secret_|^oauth2_|^tenant_sealed$|^share_/;

/** What templates refuse by, in the words of this plane. The messages name secrets and hosts, never values. */
function refusalOf({ code, message, cause }: Refused, otherwise: AiCode = 'upstream_not_configured'): AiRefused {
  if (BLOCKED.has(code)) return aiRefusal('upstream_blocked', message, { cause });
  if (CREDENTIAL.test(code)) return aiRefusal('upstream_credential_unavailable', message, { cause });
  if (code === 'dependency_unavailable') return aiRefusal('dependency_unavailable', message, { cause });
  return aiRefusal(code === 'internal_error' ? 'internal_error' : otherwise, message, { cause });
}
