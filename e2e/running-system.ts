import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** The system under test as `npm test e2e` describes it in the environment. */
export const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this through "npm test e2e".`);
  return value;
};

/** One of the operator's commands; answers what it prints. A key is let in everywhere once the second is over in which a change reaches every process. */
export async function operator(args: readonly string[]): Promise<Record<string, string>> {
  const printed = await askOperator(args);
  if (args[0] === 'create-key') await new Promise((known) => setTimeout(known, 1_000));
  return printed;
}

function askOperator(args: readonly string[]): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const asked = http.request({ socketPath: setting('E2E_OPERATOR'), method: 'POST' }, async (answer) => {
      const text = Buffer.concat(await answer.toArray()).toString();
      if (answer.statusCode === 200) resolve(JSON.parse(text) as Record<string, string>);
      else reject(new Error(`${args[0]}: ${text}`));
    });
    asked.on('error', reject).end(JSON.stringify(args));
  });
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
    signal: AbortSignal.timeout(init.timeout ?? 30_000),
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
export async function until(what: string, check: () => Promise<boolean> | boolean, ms: number): Promise<void> {
  const late = Date.now() + ms;
  let last: unknown = 'false';
  while (Date.now() < late) {
    try {
      if (await check()) return;
    } catch (error) {
      last = error;
    }
    await new Promise((next) => setTimeout(next, 50));
  }
  throw new Error(`${what}: not so within ${ms} ms (${String(last)})`);
}
