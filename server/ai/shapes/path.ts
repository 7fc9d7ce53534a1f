/** A path of a provider's API as a caller sent it: checked, decoded once, and cut into its segments. */
export type UpstreamPath = { readonly path: string; readonly segments: readonly string[]; readonly query: URLSearchParams };

/** Query parameters that carry credentials at some provider; they are never forwarded (spec/51 §1). */
const CREDENTIALS_IN_QUERY: ReadonlySet<string> = new Set(['key', 'api_key', 'access_token', 'token']);

/** What two readers of a path could understand differently. */
const AMBIGUOUS = /[\\@%\u0000-\u001f\u007f]/;
const SEGMENT_OF_MODEL = /^(?:models?)$/;

/**
 * Reads what follows the agent's slug, without a doubled `/v1` and without credentials in the query. Undefined for `.`, `..` and empty segments, `\`, NUL,
 * `@`, an encoded `%` and absolute URLs. An encoded `/` is taken only in the segment after `/model` or `/models`: ARNs of Bedrock, and models that are
 * named `publisher/name`.
 */
export function upstreamPath(target: string): UpstreamPath | undefined {
  const mark = target.indexOf('?');
  const raw = mark === -1 ? target : target.slice(0, mark);
  if (!raw.startsWith('/')) return undefined;
  const segments: string[] = [];
  for (const part of raw.slice(1).split('/')) {
    const segment = decoded(part);
    if (segment === undefined || segment === '' || AMBIGUOUS.test(segment)) return undefined;
    if (segment.split('/').some((piece) => piece === '' || piece === '.' || piece === '..' || piece.includes('..'))) return undefined;
    if (segment.includes('/') && !SEGMENT_OF_MODEL.test(segments.at(-1) ?? '')) return undefined;
    if (segments.length === 0 && /^[a-z][a-z0-9+.-]*:$/i.test(segment)) return undefined;
    segments.push(segment);
  }
  if (segments[0] === 'v1' && /^v1(?:beta1?|alpha)?$/.test(segments[1] ?? '')) segments.shift();
  const query = new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1));
  for (const name of [...query.keys()]) if (CREDENTIALS_IN_QUERY.has(name.toLowerCase())) query.delete(name);
  return { path: `/${segments.join('/')}`, segments, query };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
