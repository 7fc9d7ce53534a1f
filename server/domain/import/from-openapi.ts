import { headerNameProblem, METHODS } from '#server/domain/routes/config/schema.ts';
import { isExact, isNumber, parseExact } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { trimEnd } from '#server/kernel/trim-end.ts';
import { run as parsedYaml } from '#server/platform/yaml/yaml.thread.ts';
import { freeName, secretList, secretNameFor, type Taken, vendorOf } from './credentials.ts';
import type { Proposed } from './from-curl.ts';
import type { ImportedOperation } from './schema.ts';

type Json = Record<string, unknown>;

/** As many as a route can inject. */
const MOST_SCHEMES = 50;
/** More than the largest public descriptions that fit an import. */
const MOST_OPERATIONS = 2_000;
const MOST_SERVERS = 50;
/** Characters of a target URL, as in the schema of a route. */
const URL_LENGTH = 2048;

/**
 * A route and its secrets from an OpenAPI 3.0 or 3.1 description in JSON or YAML: the first absolute server becomes the target, every
 * security scheme a template. Pure; nothing is fetched, references to other files are not followed. It may take seconds: it runs on a thread (read-openapi.ts).
 */
export function proposalOf(text: string, taken: Taken): Proposed {
  const read = documentOf(text);
  return 'problem' in read ? { ok: false, problem: read.problem } : propose(read.document, taken);
}

function propose(document: Json, taken: Taken): Proposed {
  const warnings: string[] = [];
  const servers = list(document.servers)
    .slice(0, MOST_SERVERS)
    .flatMap((server) => serverUrl(server, warnings));
  const [target, ...others] = [...new Set(servers)];
  if (!target) return { ok: false, problem: 'has no absolute server URL' };
  if (others.length > 0)
    warnings.push(`Only the first server is used. You can add the others as environments: ${others.slice(0, 5).join(', ')}.`);
  if (target.startsWith('http:')) warnings.push('The server uses http, which sends secrets unencrypted. Use https if the API supports it.');

  const host = URL.parse(target)?.hostname ?? '';
  const vendor = vendorOf(host);
  const { secrets, add } = secretList(taken);
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  const schemes = usedSchemes(document);
  if (schemes.length > MOST_SCHEMES) warnings.push(`Only the first ${MOST_SCHEMES} of ${schemes.length} security schemes were imported.`);
  for (const [key, scheme] of schemes.slice(0, MOST_SCHEMES)) {
    const injected = injectionOf(scheme, (what, note) => add(secretNameFor(vendor, what), undefined, note));
    if ('problem' in injected) warnings.push(`The security scheme ${key} was left out: ${injected.problem}.`);
    else if (injected.place === 'query') query[injected.name] = injected.template();
    else if (Object.keys(headers).some((h) => h.toLowerCase() === injected.name.toLowerCase()))
      warnings.push(`The security scheme ${key} was left out: another one already uses the header ${injected.name}.`);
    else headers[injected.name] = injected.template();
  }

  const calls = operationsOf(document);
  if (calls.length > MOST_OPERATIONS)
    warnings.push(`Only the first ${grouped(MOST_OPERATIONS)} of ${grouped(calls.length)} operations are listed.`);
  const methods = METHODS.filter((m) => calls.some((c) => c.method === m));
  const sample = calls.find((c) => c.method === 'GET' && !c.path.includes('{')) ??
    calls.find((c) => c.method === 'GET') ??
    calls[0] ?? { method: 'GET', path: '/' };
  const title = oneLine(textOf(object(document.info).title), 90);
  const route = {
    name: freeName(
      title || vendor || host,
      (name) => taken.routes.has(name.toLowerCase()),
      (n) => ` ${n}`,
    ),
    target_base_url: target,
    inject_headers_json: headers,
    inject_query_json: query,
    ...(methods.length > 0 ? { allowed_methods: [...methods] } : {}),
    sample_call: { method: sample.method, path: sample.path },
    ...(calls.length > 0 ? { operations: calls.slice(0, MOST_OPERATIONS).map(listed) } : {}),
  };
  return { ok: true, proposal: { routes: [route], secrets, warnings } };
}

function documentOf(text: string): { document: Json } | { problem: string } {
  let document: unknown;
  try {
    document = jsonOf(text) ?? parsedYaml(text);
  } catch {
    return { problem: 'is neither valid JSON nor valid YAML' };
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document) || isExact(document))
    return { problem: 'is not an OpenAPI description' };
  const { openapi, swagger } = document as Json;
  if (swagger !== undefined) return { problem: 'is a Swagger 2 description; convert it to OpenAPI 3 first' };
  return /^3\.[01]\b/.test(textOf(openapi)) ? { document: document as Json } : { problem: 'is not an OpenAPI 3.0 or 3.1 description' };
}

function jsonOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined; // YAML, or nothing
  }
}

/** The URL with the default of every variable; relative servers and leftovers in braces are passed over with a warning. */
function serverUrl(server: unknown, warnings: string[]): string[] {
  const variables = object(object(server).variables);
  const written = textOf(object(server).url);
  const url = expanded(written, variables);
  const parsed = url === undefined ? null : URL.parse(url);
  if (url === undefined || !parsed || !/^https?:$/.test(parsed.protocol) || /[{}]/.test(url)) {
    const problem = url === undefined ? `it is longer than ${grouped(URL_LENGTH)} characters` : 'it is not an absolute URL';
    warnings.push(`The server ${(url ?? written).slice(0, 100)} was left out: ${problem}.`);
    return [];
  }
  return [`${parsed.origin}${trimEnd(parsed.pathname, '/')}`];
}

/** The template with the defaults of its variables; undefined when that is too long for a target, and never longer on the way there. */
function expanded(template: string, variables: Json): string | undefined {
  if (template.length > URL_LENGTH) return undefined;
  let url = '';
  for (const [part, name] of template.matchAll(/\{([^{}]+)\}|[^{]+|\{/g)) {
    url += name !== undefined && Object.hasOwn(variables, name) ? textOf(object(variables[name]).default) : part;
    if (url.length > URL_LENGTH) return undefined;
  }
  return url;
}

/** Schemes that some requirement names; all of them when none is named. */
function usedSchemes(document: Json): [string, Json][] {
  const declared = Object.entries(object(object(document.components).securitySchemes)).map(([key, s]): [string, Json] => [
    key,
    resolved(document, s),
  ]);
  const requirements = [
    document.security,
    ...pathItems(document).flatMap(([, item]) => METHODS.map((method) => object(item[method.toLowerCase()]).security)),
  ];
  // Each list and each alternative once: references and aliases let a short text name a long one thousands of times.
  const alternatives = new Set([...new Set(requirements)].flatMap(list));
  const named = new Set([...alternatives].flatMap((alternative) => Object.keys(object(alternative))));
  return declared.filter(([key]) => named.size === 0 || named.has(key));
}

type Injected = { place: 'header' | 'query'; name: string; template: () => string } | { problem: string };

function injectionOf(scheme: Json, keep: (what: string, note: string) => string): Injected {
  const type = textOf(scheme.type).toLowerCase();
  const name = textOf(scheme.name);
  if (type === 'apikey' && scheme.in === 'query' && name !== '' && name.length <= 128)
    return { place: 'query', name, template: () => keep(name, `Sent as the query parameter ${name}.`) };
  if (type === 'apikey' && scheme.in === 'header') {
    const problem = headerNameProblem(name);
    if (problem) return { problem: `the header name ${problem}` };
    return { place: 'header', name, template: () => keep(/^authorization$/i.test(name) ? 'api_key' : name, `Sent as the header ${name}.`) };
  }
  if (type === 'http' && /^bearer$/i.test(textOf(scheme.scheme)))
    return { place: 'header', name: 'Authorization', template: () => `Bearer ${keep('token', 'Sent as Bearer authorization.')}` };
  if (type === 'http' && /^basic$/i.test(textOf(scheme.scheme)))
    return {
      place: 'header',
      name: 'Authorization',
      template: () => `Basic ${keep('basic_auth', 'Base64 of user:password, sent as Basic authorization.')}`,
    };
  if (type === 'oauth2' || type === 'openidconnect')
    return { problem: 'OAuth can’t be imported. Store an access token as a secret and inject it as a header' };
  return { problem: 'its type isn’t supported' };
}

type Operation = { method: string; path: string; operation: unknown };

/** Every operation, path by path. Only the methods are looked up: thousands of paths may refer to one item with thousands of members. */
function operationsOf(document: Json): Operation[] {
  return pathItems(document).flatMap(([path, item]) =>
    METHODS.filter((method) => Object.hasOwn(item, method.toLowerCase())).map((method) => ({
      method,
      path,
      operation: item[method.toLowerCase()],
    })),
  );
}

function listed({ method, path, operation }: Operation): ImportedOperation {
  const summary = oneLine(textOf(object(operation).summary), 120);
  return { method, path, ...(summary ? { summary } : {}) };
}

const oneLine = (text: string, length: number): string =>
  text
    .slice(0, 1_000)
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, length);

const pathItems = (document: Json): [string, Json][] =>
  Object.entries(object(document.paths)).flatMap(([path, item]) => (path.length > URL_LENGTH ? [] : [[path, resolved(document, item)]]));

/** One step inside the same document (`#/components/…`); anything else reads as empty. */
function resolved(document: Json, value: unknown): Json {
  const ref = textOf(object(value).$ref);
  if (!ref.startsWith('#/') || ref.length > 1_000) return object(value);
  const steps = ref
    .slice(2)
    .split('/')
    .map((s) => s.replace(/~1/g, '/').replace(/~0/g, '~'));
  return object(steps.reduce<unknown>((at, step) => (Object.hasOwn(object(at), step) ? object(at)[step] : undefined), document));
}

const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value) ? (value as Json) : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : isNumber(value) ? String(value) : '');
