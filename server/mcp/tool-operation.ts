import { isExact } from '#server/kernel/lossless-json.ts';

/** How a tool of a collection calls its route (interface rule 52 §9). */
export type ToolOperation = {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root of the route's target; `{arg}` is one segment or a part of one. */
  path_template: string;
  param_map: readonly ToolParameter[];
  body_mode: 'json' | 'form' | 'none';
  result: 'json' | 'text';
  timeout_ms: number;
};
/** Where one argument goes. In a body without a name the argument is the whole body. */
export type ToolParameter = { arg: string; in: 'path' | 'query' | 'header' | 'body'; name: string };

export type ToolRequest = {
  method: ToolOperation['method'];
  /** Path and query, ready to be sent. */
  target: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: string | null;
};

/** Arguments that can't be made into a request; the message is for the model, which may repair them. */
export class ArgumentProblem extends Error {
  override readonly name = 'ArgumentProblem';
}

/**
 * The request that a call of the tool makes. An argument in the path stays inside its segment whatever it holds; a header can't end early or carry a credential.
 * @throws ArgumentProblem
 */
export function toolRequest(operation: ToolOperation, args: Readonly<Record<string, unknown>>): ToolRequest {
  const given = operation.param_map.flatMap((parameter) =>
    Object.hasOwn(args, parameter.arg) && args[parameter.arg] !== undefined ? [{ ...parameter, value: args[parameter.arg] }] : [],
  );
  const path = pathOf(operation.path_template, new Map(given.filter((one) => one.in === 'path').map((one) => [one.name, one.value])));
  const query = given.filter((one) => one.in === 'query').flatMap((one) => pairsOf(one.name, one.value));
  const headers = given
    .filter((one) => one.in === 'header')
    .map(({ arg, name, value }): [string, string] => [name.toLowerCase(), headerOf(arg, name, value)]);
  const body =
    operation.body_mode === 'none'
      ? null
      : bodyOf(
          operation.body_mode,
          given.filter((one) => one.in === 'body'),
        );
  if (body !== null)
    headers.push(['content-type', operation.body_mode === 'form' ? 'application/x-www-form-urlencoded' : 'application/json']);
  return { method: operation.method, target: query.length === 0 ? path : `${path}?${new URLSearchParams(query)}`, headers, body };
}

/** What is wrong with a template, or undefined. Placeholders must be those of `names`. */
export function templateProblem(template: string, names: readonly string[]): string | undefined {
  if (!template.startsWith('/') || template.length > 2_000) return 'must start with / and have at most 2,000 characters';
  const literal = template.replaceAll(PLACEHOLDER, 'x');
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/.test(literal) || /%(?![0-9A-Fa-f]{2})/.test(literal))
    return 'must be a path without query, spaces or other braces';
  if (/%2f|%5c|%2e|%00/i.test(literal) || literal.split('/').some((segment) => segment === '.' || segment === '..'))
    return 'must not contain . or .. segments, or encoded slashes and dots';
  const used = [...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string);
  const missing = used.find((name) => !names.includes(name));
  if (missing !== undefined) return `has the placeholder {${missing}}, which no path parameter fills`;
  const unused = names.find((name) => !used.includes(name));
  return unused === undefined ? undefined : `has no placeholder {${unused}}`;
}

const PLACEHOLDER = /\{([^{}/]{1,128})\}/g;

function pathOf(template: string, values: ReadonlyMap<string, unknown>): string {
  const path = template.replaceAll(PLACEHOLDER, (_, name: string) => segmentOf(name, values.get(name)));
  // A dot segment can also come from several arguments, or an argument beside a literal dot.
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw new ArgumentProblem('The arguments of the path make a "." or ".." segment.');
  return path;
}

/** One segment: everything outside of RFC 3986's unreserved characters is encoded. A list is separated by commas, as OpenAPI's style `simple` has it. */
function segmentOf(name: string, value: unknown): string {
  if (value === undefined) throw new ArgumentProblem(`The argument ${name} is required: it is a part of the path.`);
  const parts = (Array.isArray(value) ? value : [value]).map((part) => scalarText(name, part));
  if (parts.join('') === '') throw new ArgumentProblem(`The argument ${name} must not be empty: it is a part of the path.`);
  return parts.map(encoded).join(',');
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    throw new ArgumentProblem('An argument of the path holds a broken Unicode character.');
  }
}

/** Lists repeat the name; an object is sent as its JSON text. */
function pairsOf(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.map((item) => [name, typeof item === 'object' ? JSON.stringify(item) : String(item)]);
  return value === null ? [] : [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
}

function headerOf(arg: string, name: string, value: unknown): string {
  const problem = parameterHeaderProblem(name);
  if (problem) throw new ArgumentProblem(`The argument ${arg} can't be sent: the header ${problem}.`);
  const text = Array.isArray(value) ? value.map((part) => scalarText(arg, part)).join(',') : scalarText(arg, value);
  if (!/^[\t\x20-\x7e]*$/.test(text) || text.length > 4_096)
    throw new ArgumentProblem(`The argument ${arg} must be at most 4,096 printable ASCII characters: it is sent as a header.`);
  return text.trim();
}

/** Why callers may not set a header by an argument, or undefined: what authenticates, frames or routes a message is not theirs. */
export function parameterHeaderProblem(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(lower)) return 'must have a valid name';
  if (RESERVED.has(lower) || /^(?:proxy-|sec-|x-svc-|x-forwarded-|mcp-|content-|access-control-)/.test(lower))
    return 'is set by the gateway';
  if (mayBeCredential(lower)) return 'can carry a credential';
  return undefined;
}

const RESERVED = new Set(
  'host,connection,keep-alive,te,trailer,transfer-encoding,upgrade,expect,via,forwarded,date,dpop,accept-encoding,origin,referer,x-real-ip,x-http-method-override,x-method-override,x-original-url,x-rewrite-url'.split(
    ',',
  ),
);
const CREDENTIAL_WORDS = ['authorization', 'authentication', 'cookie', 'token', 'secret', 'password', 'signature', 'apikey', 'accesskey'];
const mayBeCredential = (name: string): boolean =>
  name !== 'idempotency-key' && (CREDENTIAL_WORDS.some((word) => name.includes(word)) || /-(?:auth|key|credentials?)$/.test(name));

function bodyOf(mode: 'json' | 'form', given: readonly { name: string; value: unknown }[]): string | null {
  if (given.length === 0) return null;
  const whole = given.find(({ name }) => name === '');
  const value = whole ? whole.value : Object.fromEntries(given.map(({ name, value }) => [name, value]));
  if (mode === 'json') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isExact(value))
    throw new ArgumentProblem('The body must be an object: it is sent as a form.');
  return new URLSearchParams(Object.entries(value).flatMap(([name, item]) => pairsOf(name, item))).toString();
}

function scalarText(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || isExact(value)) return String(value);
  throw new ArgumentProblem(`The argument ${name} must be a text, a number or a boolean.`);
}
