import { apiUrls } from '#server/domain/oauth-grants/dpop.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { Edge } from '../edge.ts';

/** A credential and how it came: x-api-key counts as Bearer. */
export type Presented = { text: string; scheme: 'bearer' | 'dpop' };

/** What readers of credentials know of a request to /v1. */
export type V1Request = {
  edge: Edge;
  scheme: Presented['scheme'];
  method: string;
  /** Its public URLs. */
  urls: readonly string[];
  /** The DPoP header. */
  proof: string | null;
};

export const v1RequestOf = (req: Pick<Request, 'method' | 'url' | 'headers'>, scheme: Presented['scheme'], edge: Edge): V1Request => ({
  edge,
  scheme,
  method: req.method,
  urls: apiUrls(new URL(req.url).pathname),
  proof: req.headers.get('dpop'),
});

/**
 * The one credential of a request to an API plane (interface rule 01 §9).
 * @throws Refusal authentication_required, invalid_api_key, invalid_request for two different credentials
 */
export function presentedCredential(headers: Headers): Presented {
  // An empty header carries no credential, so it says nothing against the other one either.
  const authorization = headers.get('authorization') || null;
  const key = headers.get('x-api-key');
  const [, scheme, token] = (authorization !== null && /^(Bearer|DPoP) +(\S+)$/i.exec(authorization.trim())) || [];
  if (authorization !== null && !token && !key) throw invalidKey();
  // Whatever stands beside x-api-key in Authorization is a second credential, also when its scheme is none of ours.
  if (authorization !== null && key && token !== key)
    throw new Refusal('invalid_request', 'Authorization and x-api-key carry different credentials. Send only one.');
  const text = token ?? key;
  if (!text)
    throw new Refusal(
      'authentication_required',
      'Authentication required. Send an API key or access token as "Authorization: Bearer ...".',
      {
        headers: { 'www-authenticate': 'Bearer realm="api"' },
      },
    );
  return { text, scheme: scheme?.toLowerCase() === 'dpop' ? 'dpop' : 'bearer' };
}

export const invalidKey = () =>
  new Refusal('invalid_api_key', 'The API key or access token is unknown, malformed, revoked or expired.', {
    headers: { 'www-authenticate': 'Bearer realm="api", error="invalid_token"' },
  });
