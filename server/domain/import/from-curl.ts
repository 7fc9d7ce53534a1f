import { headerNameProblem } from '#server/domain/routes/config/schema.ts';
import { containsCredential } from '#server/kernel/credential-patterns.ts';
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
  /^(?:accept(?:-.*)?|content-.*|user-agent|origin|referer|cache-control|pragma|priority|dnt|if-.*|range|sec-.*|idempotency-key|x-request-id|x-requested-with|upgrade-insecure-requests|date|expect)$/i;

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
  if (url.protocol === 'http:')
    warnings.push('The URL uses http, which sends secrets in clear; use https unless the operator allows this host.');

  const vendor = vendorOf(url.hostname);
  const { secrets, add } = secretList(taken);
  const keep = (what: string, value: string, note: string) => {
    const suggested = standIn(value);
    return add(
      suggested || secretNameFor(vendor, what),
      suggested === undefined ? value : undefined,
      suggested === undefined ? note : `${note} The command held a stand-in, so the value is still to be given.`,
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
  for (const { name, value } of call.headers) {
    if (PER_CALL.test(name)) continue;
    const problem = headerNameProblem(name);
    if (problem) warnings.push(`The header ${name.slice(0, 64)} was left out: it ${problem}.`);
    else inject_headers_json[sameName(name)] = isCredentialHeader(name, value) ? credentialHeader(name, value, keep) : value;
  }
  const user = call.user ?? (url.username === '' ? undefined : decoded(`${url.username}:${url.password}`));
  if (user !== undefined) inject_headers_json[sameName('Authorization')] = `Basic ${basic(user, keep)}`;

  const inject_query_json: Record<string, string> = {};
  const parameters = [...url.searchParams];
  for (const [name, value] of parameters)
    if (isCredentialParameter(name, value)) inject_query_json[name] = keep(name, value, `Sent as the query parameter ${name}.`);
  // Written back once: every change of a URL's parameters writes the whole URL anew.
  const moved = new Set(Object.keys(inject_query_json));
  if (moved.size > 0) url.search = new URLSearchParams(parameters.filter(([name]) => !moved.has(name))).toString();
  if (call.data.some((body) => containsCredential(body) || /"?(?:client_secret|password|api_?key|secret)"?\s*[:=]/i.test(body)))
    warnings.push(
      'The body seems to hold a credential. Store it as a secret and put its placeholder into the body, or into inject_body_json of the route.',
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
    sample_call: { method: call.method, path: `${url.pathname}${url.search}` },
  };
  return { ok: true, proposal: { routes: [route], secrets, warnings } };
}

type Keep = (what: string, value: string, note: string) => string;

/** `Bearer abc` keeps its scheme outside the secret, so that the secret is the bare key. */
function credentialHeader(name: string, value: string, keep: Keep): string {
  const [, scheme, rest] = /^([A-Za-z][\w-]{0,30})\s+(\S[\s\S]*)$/.exec(value) ?? [];
  if (!scheme || !rest || !/^(?:proxy-)?authorization$/i.test(name)) return keep(name, value, `Sent as the header ${name}.`);
  const what = /^basic$/i.test(scheme) ? 'basic_auth' : /^bearer$/i.test(scheme) ? 'token' : 'api_key';
  const note = what === 'basic_auth' ? 'The base64 of user:password, sent as Basic authorization.' : `Sent as ${scheme} authorization.`;
  return `${scheme} ${keep(what, rest, note)}`;
}

function basic(user: string, keep: Keep): string {
  const whole = user.includes(':') ? user : `${user}:`;
  const variable = /\$\{\w+\}/.test(whole);
  return keep(
    'basic_auth',
    variable ? '<base64 of user:password>' : Buffer.from(whole).toString('base64'),
    'The base64 of user:password, sent as Basic authorization.',
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
