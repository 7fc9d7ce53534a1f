// What a report of uncovered calls may hold (interface rule 34 §3). Pure, and free of packages: the SDK and the service judge alike.

export const OBSERVED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'] as const;
export const MOST_OBSERVATIONS = 200;
export const MOST_COUNT = 1_000_000_000;

const CREDENTIAL_HEADERS = new Set(
  (
    'authorization proxy-authorization x-api-key api-key apikey x-apikey x-auth-token x-access-token x-token token x-secret x-secret-key x-client-secret ' +
    'ocp-apim-subscription-key x-goog-api-key x-amz-security-token x-shopify-access-token klaviyo-api-key x-hubspot-api-key'
  ).split(' '),
);
const CREDENTIAL_SUFFIXES = ['-api-key', '-token', '-secret', '-auth'];

/** Whether a header of this name, in lower case, carries a credential. A suffix alone is no name. */
export const isCredentialHeader = (name: string): boolean =>
  name.length <= 64 &&
  /^[a-z0-9][a-z0-9_-]*$/.test(name) &&
  (CREDENTIAL_HEADERS.has(name) || CREDENTIAL_SUFFIXES.some((suffix) => name.length > suffix.length && name.endsWith(suffix)));

/** `/` or `/<one segment>`: never a query, never deeper. */
export const isFirstSegment = (text: string): boolean => /^\/[A-Za-z0-9._~!$&'()*+,;=:@%-]{0,255}$/.test(text);

/** The first segment of a path, as it is observed. */
export const firstSegmentOf = (path: string): string => /^\/[^/?#]*/.exec(path)?.[0] ?? '/';

const CREDENTIAL_STARTS = [
  /^bot\d+:/i,
  /^[spr]k_(?:live|test)_/i,
  /^sk-/,
  /^xox[abposr]-/,
  /^gh[pousr]_/,
  /^github_pat_/,
  /^glpat-/,
  /^shp(?:at|ca|pa|ss)_/,
  /^A[KS]IA[A-Z0-9]{12}/,
  /^AIza[A-Za-z0-9_-]{20}/,
  /^eyJ[A-Za-z0-9_-]{8}/,
  /^SG\./,
];

/** Whether a path segment looks like a credential, as written or percent-decoded. Such a segment is never stored. */
export function looksLikeCredential(segment: string): boolean {
  const raw = segment.replace(/^\//, '');
  return looks(raw) || looks(decoded(raw));
}

const looks = (text: string): boolean =>
  text.length > 64 || CREDENTIAL_STARTS.some((start) => start.test(text)) || (text.match(/[A-Za-z0-9_-]{24,}/g) ?? []).some(isMixed);

const isMixed = (run: string): boolean => [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(run)).length >= 2;

const decoded = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** `typescript/1.4.2`; anything else is recorded as `unknown`. */
export const sdkName = (text: string): string => (text.length <= 64 && /^[a-z]+\/[0-9A-Za-z.+-]{1,40}$/.test(text) ? text : 'unknown');
