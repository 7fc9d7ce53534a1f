import { stringifyAround } from '#server/kernel/json-text.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { bearer, type Credential, environmentCredential } from './credential.ts';
import type { Fetch } from './exchange.ts';
import table from './generated/operations.json' with { type: 'json' };
import type { Operations } from './generated/types/sdk.gen.ts';
import { environmentSettings, LOCAL, originOf, spaceOf } from './settings.ts';
import { transport, USER_AGENT } from './transport.ts';

export type SallyportOptions = {
  /** Address of the Management API, with or without `/v1`. Default: SERVICE_BASE_URL, else an installation on this machine. */
  base_url?: string | undefined;
  /** An API key or access token as a text, or anything that gives tokens. Default: SERVICE_API_KEY, SERVICE_ACCESS_TOKEN, SERVICE_CLIENT_ID with SERVICE_CLIENT_SECRET, or SERVICE_SUBJECT_TOKEN. `null` sends none. */
  credential?: Credential | string | null | undefined;
  /** Of one attempt. Default: 30,000. */
  timeout_ms?: number;
  /** Attempts after the first one. Default: 3. */
  max_retries?: number;
  /** Default: the version that this client was written for. */
  service_version?: string;
  user_agent?: string;
  fetch?: Fetch;
};

/** What every operation answers: `data`, and `meta` with the request ID, of lists with the page. */
export type Envelope<T = unknown> = { data: T; meta: { request_id: string } & Record<string, unknown>; warning?: string };

export type Call = {
  /** Values of `{name}` in the path. */
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  /** Written as JSON: a `LosslessNumber` and a BigInt as their digits. */
  body?: unknown;
  signal?: AbortSignal;
};

/** Every operation as `family.verb(...)`, and `request` for one that this client doesn't know yet. */
export type Sallyport = Operations & {
  request<T = unknown>(method: string, path: string, call?: Call): Promise<Envelope<T>>;
};

export const SERVICE_VERSION = '2026-08-05';

/** A client of the Management API. */
export function createSallyport(options: SallyportOptions = {}): Sallyport {
  const fetchIt = options.fetch ?? fetch;
  const { origin, credential } = connection(options, fetchIt);
  const send = transport({
    credential,
    fetch: fetchIt,
    timeout_ms: options.timeout_ms ?? 30_000,
    max_retries: options.max_retries ?? 3,
    service_version: options.service_version ?? SERVICE_VERSION,
    user_agent: options.user_agent ?? USER_AGENT,
  });
  const request = async <T>(method: string, path: string, call: Call = {}) => {
    const headers = new Headers(call.headers);
    if (call.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
    const body = call.body === undefined ? null : stringifyAround(call.body);
    const address = `${origin}/v1${addressOf(path, call)}`;
    const answer = await send(new Request(address, { method, headers, body, signal: call.signal ?? null }));
    const text = await answer.text();
    // What was read is sent again by many programs: a double would change numbers of customers' JSON on that way.
    return (text === '' ? {} : parseExact(text)) as Envelope<T>;
  };
  return Object.assign(operations(request), { request });
}

/** The generated types over the generated table: `collections.variables.create` is a function of that name that makes its request. */
function operations(request: Sallyport['request']): Operations {
  const all: Tree = {};
  for (const { id, method, path } of table.operations) {
    const names = id.split('.').map((name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()));
    const verb = names.pop() ?? '';
    let family = all;
    for (const name of names) {
      family[name] ??= {};
      family = family[name] as Tree;
    }
    family[verb] = (call?: Call) => request(method, path, call);
  }
  return all as unknown as Operations;
}

type Tree = { [name: string]: Tree | ((call?: Call) => Promise<Envelope>) };

/** The path with its values, and the query: a list is a parameter that is repeated, what is null or undefined is left out. @throws TypeError */
function addressOf(path: string, { path: values = {}, query = {} }: Call): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined && one !== null)
      .map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`),
  );
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, values[name]));
  return parameters.length > 0 ? `${filled}?${parameters.join('&')}` : filled;
}

function connection({ base_url, credential }: SallyportOptions, fetch: Fetch): { origin: string; credential: Credential | undefined } {
  const environment = environmentSettings();
  const text = typeof credential === 'string' ? credential : undefined;
  const hint = text ?? (credential === undefined ? (environment.api_key ?? environment.access_token) : undefined);
  const origin = originOf(base_url ?? environment.base_url ?? LOCAL[spaceOf(hint ?? '')]);
  if (text !== undefined) return { origin, credential: bearer(text) };
  if (credential === undefined) return { origin, credential: environmentCredential(environment, { origin, fetch }) };
  return { origin, credential: typeof credential === 'object' && credential !== null ? credential : undefined };
}

/** `..` as an ID would address another operation: a URL is shortened before it is sent. */
function segment(name: string, value = ''): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`"${value}" can't be the ${name} of a path.`);
  return encodeURIComponent(value);
}
