import { lowerName } from '#server/platform/header-name.ts';
import { log } from '#server/platform/log.ts';
import { networkOf } from '../core/client-address.ts';
import type { Arrival, Identified } from '../core/plane.ts';
import { isOurKey, isToken, ourAuthorization } from '../core/presented-credential.ts';
import { type Refused, refused } from '../core/refusal.ts';
import type { Runtime } from '../core/runtime.ts';

const MISSING = refused('authentication_required', 'Authentication required. Send an API key or access token in Authorization.');
const UNKNOWN = refused('invalid_api_key', 'Invalid credential.');
const UNDECIDED = refused('dependency_unavailable', "The gateway can't check the credential. Try again shortly.");

/** The workspace of a call of /v1/proxy: that of its API key or access token. Whether the credential is good its authentication decides. */
export async function identifyByCredential({ req, match, sourceAddress }: Arrival, runtime: Runtime): Promise<Identified> {
  const space = match.plane === 'api' ? match.space : 'live';
  const text = presentedText(req.rawHeaders);
  if (text === undefined) return { refusal: limited(runtime, sourceAddress) ?? MISSING };
  try {
    const row = await (isToken(text) ? runtime.tokens.find(text) : runtime.keys.find(text));
    if (row === 'busy') return { refusal: UNDECIDED };
    if (row !== null) return { tenantId: row.tenant_id, space };
  } catch (error) {
    log.debug({ err: error }, 'a credential could not be looked up');
    return { refusal: UNDECIDED };
  }
  return { refusal: limited(runtime, sourceAddress) ?? UNKNOWN };
}

/** Thirty failed authentications a minute from one network; then it waits. */
export function limited(runtime: Runtime, sourceAddress: string): Refused | undefined {
  const rule = { key: `untenanted ${networkOf(sourceAddress)}`, limit: 30, windowMs: 60_000, burst: null };
  const [verdict] = runtime.failures.take([rule], Date.now());
  if (!verdict || verdict.admitted) return undefined;
  return refused('auth_throttled', 'Too many failed authentication attempts from this address. Try again later.', {
    retryAfter: verdict.retryAfter,
  });
}

/** The first credential in the order in which `authenticate` takes them. */
function presentedText(raw: readonly string[]): string | undefined {
  let key: string | undefined;
  let authorization: string | undefined;
  let apiKey: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = lowerName(raw[i] as string);
    const value = raw[i + 1] as string;
    if (name === 'x-svc-key') key = value.trim() || undefined;
    else if (name === 'authorization') authorization = ourAuthorization(value)?.text;
    else if (name === 'x-api-key' && isOurKey(value)) apiKey = value.trim();
  }
  return key ?? authorization ?? apiKey;
}
