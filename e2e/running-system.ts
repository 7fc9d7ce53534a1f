import { randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

/** The system under test as `npm test e2e` describes it in the environment. */
export const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this through "npm test e2e".`);
  return value;
};

/** A name that no earlier run on this system has used. */
export const unique = (name: string): string => `${name}-${RUN}`;
const RUN = randomBytes(4).toString('hex');

/** A workspace, as an operator makes it; with an Owner who can sign in. */
export async function createWorkspace(slug: string, owner?: { email: string; password: string }, plan = 'pro'): Promise<void> {
  const whose = owner ? ['--owner-email', owner.email, '--owner-password', owner.password] : [];
  await operator(['create-tenant', '--slug', slug, '--plan', plan, ...whose]);
}

/** One of the operator's commands; resolves with what it prints, for a key once the gateway knows it. */
export async function operator(args: readonly string[]): Promise<Record<string, string>> {
  const printed = await sendToOperator(args);
  const key = printed.api_key;
  // The answer to a change, even to one that is invalid, comes after the gateway has read what was changed before it.
  if (key) await json(`${setting(key.startsWith('tk_live_') ? 'E2E_API_URL' : 'E2E_SANDBOX_API_URL')}/v1/environments`, { key, body: {} });
  return printed;
}

function sendToOperator(args: readonly string[]): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const sent = http.request({ socketPath: setting('E2E_OPERATOR'), method: 'POST' }, async (answer) => {
      const text = Buffer.concat(await answer.toArray()).toString();
      if (answer.statusCode === 200) resolve(JSON.parse(text) as Record<string, string>);
      else reject(new Error(`${args[0]}: ${text}`));
    });
    sent.on('error', reject).end(JSON.stringify(args));
  });
}

/** Waits until calls are in the request log, and so in every figure that is made from it; told by their answers. */
export async function logged(api: string, key: string, answers: readonly { headers: Headers }[]): Promise<void> {
  for (const { headers } of answers) {
    const id = headers.get('x-svc-request-id') ?? headers.get('x-request-id');
    await until('the call is logged', async () => (await json(`${api}/v1/logs/${id}`, { key })).status === 200);
  }
}

/** Has the worker run a scheduled job now instead of at its time. */
export async function runJob(name: string): Promise<void> {
  await query('select graphile_worker.add_job($1, queue_name => $1)', [name]);
}

/** Asks the database of the system. */
export async function query<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: setting('DATABASE_URL') });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

export type Upstream = {
  url: string;
  seen: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }[];
  close: () => void;
};

/** A server that notes what reaches it and, unless told otherwise, answers with what it got. */
export async function startUpstream(
  answer?: (req: http.IncomingMessage, res: http.ServerResponse, body: string) => void,
): Promise<Upstream> {
  const seen: Upstream['seen'] = [];
  const server = http.createServer((req, res) => {
    // The worker asks every upstream for its icon, at a time of its own.
    if (req.headers['user-agent'] === 'Sallyport-Icons') return void res.writeHead(404).end();
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const call = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body };
      seen.push(call);
      if (answer) answer(req, res, body);
      else res.setHeader('content-type', 'application/json').end(JSON.stringify(call));
    });
    req.on('error', () => undefined);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close };
}

// biome-ignore lint/suspicious/noExplicitAny: a stranger reads what is there
export type Answer = { status: number; headers: Headers; body: any; text: string };

/** One JSON call; a body makes it a POST. Rejects only when there is no HTTP answer at all. */
export async function json(
  url: string,
  init: { method?: string; key?: string; body?: unknown; headers?: Record<string, string>; timeout?: number } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    signal: AbortSignal.timeout(init.timeout ?? 120_000),
    headers: {
      ...(init.key ? { authorization: `Bearer ${init.key}` } : {}),
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...init.headers,
    },
    ...(init.body === undefined ? {} : { body: typeof init.body === 'string' ? init.body : JSON.stringify(init.body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : null };
}

/** Waits until `check` holds, and fails with what it last said. */
export async function until(what: string, check: () => Promise<boolean> | boolean): Promise<void> {
  const late = Date.now() + PATIENCE_MS;
  let last: unknown = 'false';
  while (Date.now() < late) {
    try {
      if (await check()) return;
    } catch (error) {
      last = error;
    }
    await new Promise((next) => setTimeout(next, 50));
  }
  throw new Error(`${what}: not so within ${PATIENCE_MS} ms (${String(last)})`);
}

/** Long enough for any machine: only what never happens waits so long. */
const PATIENCE_MS = 240_000;
