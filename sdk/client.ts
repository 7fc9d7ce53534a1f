import { bearer, type Credential, environmentCredential } from './credential.ts';
import type { Fetch } from './exchange.ts';
import { createClient } from './generated/client/index.ts';
import { Operations } from './generated/sdk.gen.ts';
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
  const client = createClient({
    baseUrl: `${origin}/v1`,
    throwOnError: true,
    responseStyle: 'data',
    parseAs: 'json',
    fetch: (request) => send(request as Request),
    requestValidator: (call) => Promise.resolve(assertSegments((call as Call).path)),
  });
  const request = async <T>(method: string, path: string, call: Call = {}) => {
    const json = call.body === undefined ? {} : { 'Content-Type': 'application/json' };
    const options = { ...call, method: method as 'GET', url: path, headers: { ...json, ...call.headers } };
    // The declared result has no form for `responseStyle: 'data'` of an operation that has no type.
    return (await client.request(options)) as unknown as Envelope<T>;
  };
  return Object.assign(new Operations({ client }), { request });
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
function assertSegments(path: Readonly<Record<string, string>> | undefined): void {
  for (const [name, value] of Object.entries(path ?? {}))
    if (/^\.{0,2}$/.test(String(value))) throw new TypeError(`"${value}" can't be the ${name} of a path.`);
}
