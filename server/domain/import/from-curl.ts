import { headerNameProblem } from '#server/domain/routes/config/schema.ts';
import { containsCredential, redactCredentials, redactedMark } from '#server/kernel/credential-patterns.ts';
import {
  freeName,
  isCredentialHeader,
  isCredentialParameter,
  nothingTaken,
  secretList,
  secretNameFor,
  standIn,
  type Taken,
  vendorOf,
} from './credentials.ts';
import { parseCurl } from './curl.ts';
import type { Proposal } from './schema.ts';

export type Proposed = { ok: true; proposal: Proposal } | { ok: false; problem: string };

/** Headers that belong to one call or one browser, not to the route. */
const PER_CALL =
  /^(?:(?:accept|content|if|sec)-|(?:accept|user-agent|origin|referer|cache-control|pragma|priority|dnt|range|idempotency-key|x-request-id|x-requested-with|upgrade-insecure-requests|date|expect)$)/i;

/**
 * A route and its secrets from a curl command: the URL's origin becomes the target, what looks like a credential becomes a secret and a
 * template in its place, other fixed headers stay as they are. Pure: nothing is stored, nothing is called.
 */
export function proposeFromCurl(text: string, taken: Taken = nothingTaken): Proposed {
  const parsed = parseCurl(text);
  if (!parsed.ok) return parsed;
  const { call } = parsed;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(call.url) ? call.url : `https://${call.url}`);
  if (!url || !/^https?:$/.test(url.protocol)) return { ok: false, problem: 'the URL is not an http or https URL' };
  const warnings = [...call.warnings];
  if (url.protocol === 'http:') warnings.push('The URL uses http, which sends secrets unencrypted. Use https if the API supports it.');

  const vendor = vendorOf(url.hostname);
  const { secrets, add } = secretList(taken);
  const keep = (what: string, value: string, note: string) => {
    const suggested = standIn(value);
    return add(
      suggested || secretNameFor(vendor, what),
      suggested === undefined ? value : undefined,
      suggested === undefined ? note : `${note} The command has a placeholder here, so enter the value.`,
    );
  };

  const inject_headers_json: Record<string, string> = {};
  // A later header of the same name replaces the earlier one, whatever its case.
  const named = new Map<string, string>();
  const sameName = (name: string): string => {
    const lower = name.toLowerCase();
    const first = named.get(lower) ?? name;
    named.set(lower, first);
    return first;
  };
  const sent: [string, string][] = [];
  for (const { name, value } of call.headers) {
    const problem = headerNameProblem(name);
    const credential = isCredentialHeader(name, value);
    if (!problem && !credential) sent.push([name, value]);
    if (PER_CALL.test(name)) continue;
    if (problem) warnings.push(`The header ${name.slice(0, 64)} was left out: it ${problem}.`);
    else inject_headers_json[sameName(name)] = credential ? credentialHeader(name, value, keep) : value;
  }
  const user = call.user ?? (url.username === '' ? undefined : decoded(`${url.username}:${url.password}`));
  if (user !== undefined) inject_headers_json[sameName('Authorization')] = `Basic ${basic(user, keep)}`;

  const inject_query_json: Record<string, string> = {};
  for (const [name, value] of url.searchParams)
    if (isCredentialParameter(name, value)) inject_query_json[name] = keep(name, value, `Sent as the query parameter ${name}.`);
  const body = call.body ?? call.bodyOptions?.join(' ') ?? '';
  if (containsCredential(body) || CREDENTIAL_FIELD.test(body))
    warnings.push(
      'The body seems to contain a credential. Store it as a secret, then use its placeholder in the body or inject it with the route.',
    );

  const route = {
    name: freeName(
      vendor ?? url.hostname,
      (name) => taken.routes.has(name.toLowerCase()),
      (n) => ` ${n}`,
    ),
    target_base_url: url.origin,
    inject_headers_json,
    inject_query_json,
    sample_call: {
      method: call.method,
      path: `${url.pathname}${queryWithout(url.search, inject_query_json)}`,
      ...(sent.length > 0 ? { headers: Object.fromEntries(sent) } : {}),
      ...(call.body === undefined ? {} : { body: withoutCredentials(call.body) }),
      ...(call.bodyOptions ? { body_options: call.bodyOptions.map(withoutCredentials) } : {}),
    },
  };
  return { ok: true, proposal: { routes: [route], secrets, warnings } };
}

const CREDENTIAL_FIELD = /"?(?:client_secret|password|api_?key|secret)"?\s*[:=]/i;

/** The text with credentials replaced by a mark, because it stays on the page after the import. */
const withoutCredentials = (text: string): string =>
  redactCredentials(text).replace(
    /("(?:client_secret|password|api_?key|secret)"\s*:\s*)"(?:[^"\\]|\\.)*"|((?:^|&)(?:client_secret|password|api_?key|secret)=)[^&]*/gi,
    (_, json: string | undefined, form: string | undefined) => (json === undefined ? `${form}${redactedMark}` : `${json}"${redactedMark}"`),
  );

/** The query as it was written, less the injected parameters. */
function queryWithout(search: string, injected: Readonly<Record<string, string>>): string {
  const pieces = search.slice(1).split('&');
  const left = pieces.filter((piece) => !Object.hasOwn(injected, [...new URLSearchParams(piece).keys()][0] ?? ''));
  return left.join('&') === '' ? '' : `?${left.join('&')}`;
}

type Keep = (what: string, value: string, note: string) => string;

/** `Bearer abc` keeps its scheme outside the secret, so that the secret is the bare key. */
function credentialHeader(name: string, value: string, keep: Keep): string {
  const [, scheme, rest] = /^([A-Za-z][\w-]{0,30})\s+(\S[\s\S]*)$/.exec(value) ?? [];
  if (!scheme || !rest || !/^(?:proxy-)?authorization$/i.test(name)) return keep(name, value, `Sent as the header ${name}.`);
  const what = /^basic$/i.test(scheme) ? 'basic_auth' : /^bearer$/i.test(scheme) ? 'token' : 'api_key';
  const note = what === 'basic_auth' ? 'Base64 of user:password, sent as Basic authorization.' : `Sent as ${scheme} authorization.`;
  return `${scheme} ${keep(what, rest, note)}`;
}

function basic(user: string, keep: Keep): string {
  const whole = user.includes(':') ? user : `${user}:`;
  const variable = /\$\{\w+\}/.test(whole);
  return keep(
    'basic_auth',
    variable ? '<base64 of user:password>' : Buffer.from(whole).toString('base64'),
    'Base64 of user:password, sent as Basic authorization.',
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
