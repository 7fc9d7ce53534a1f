import { Refusal } from '#server/kernel/errors.ts';

/**
 * The one credential of a request to an API plane (interface rule 01 §9).
 * @throws Refusal authentication_required, invalid_api_key, invalid_request for two different credentials
 */
export function presentedCredential(headers: Headers): string {
  // An empty header carries no credential, so it says nothing against the other one either.
  const authorization = headers.get('authorization') || null;
  const key = headers.get('x-api-key');
  const bearer = authorization === null ? null : /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  if (authorization !== null && !bearer && !key) throw invalidKey();
  // Whatever stands beside x-api-key in Authorization is a second credential, also when its scheme is none of ours.
  if (authorization !== null && key && bearer !== key)
    throw new Refusal('invalid_request', 'Authorization and x-api-key carry different credentials. Send only one.');
  const text = bearer ?? key;
  if (!text)
    throw new Refusal(
      'authentication_required',
      'Authentication required. Send an API key or access token as "Authorization: Bearer ...".',
      {
        headers: { 'www-authenticate': 'Bearer realm="api"' },
      },
    );
  return text;
}

export const invalidKey = () =>
  new Refusal('invalid_api_key', 'The API key or access token is unknown, malformed, revoked or expired.', {
    headers: { 'www-authenticate': 'Bearer realm="api", error="invalid_token"' },
  });
