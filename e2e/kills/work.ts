import type http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnSystem } from '../isolated-system.ts';
import { type Answer, json, startUpstream, type Upstream, until } from '../running-system.ts';

export const SLUG = 'kills';
/** Of one call of the model: 1,000 tokens in and 500 out at 1 and 4 USD a million. */
export const COST_NANO = 3_000_000n;
/** Of the agent whose budget ends: 40 calls. */
export const CAP_NANO = 40n * COST_NANO;
const MODEL = 'kills-model';

/** What callers were told, by the name that they gave what they asked for. */
export type Record = {
  clients: Told;
  keys: Told & { secrets: Map<string, string> };
  runs: Told;
  /** Calls that were answered 200: request ID by the caller's own. */
  calls: Map<string, string>;
  spent: Map<string, string>;
  capped: Map<string, string>;
  /** How often the upstream was called, by what a call or run is called; of runs, by their idempotency keys. */
  arrived: Map<string, number>;
  steps: Map<string, Set<string>>;
  /** Answers that nobody should get. */
  garbage: string[];
  workflow: string;
  agents: { open: string; capped: string };
};
type Told = { begun: Set<string>; acknowledged: Map<string, string> };
export type Work = {
  record: Record;
  works: () => Promise<boolean>;
  acceptsKey: (key: string) => Promise<boolean>;
  stop: () => Promise<void>;
  close: () => void;
};

/** Starts what a workspace does all day: it writes, mints keys, starts workflows, calls a route, and calls a model with and without an end of its budget. */
export async function startWork(system: OwnSystem): Promise<Work> {
  const told = (): Told => ({ begun: new Set(), acknowledged: new Map() });
  const record: Record = {
    ...{ clients: told(), keys: { ...told(), secrets: new Map() }, runs: told() },
    ...{ calls: new Map(), spent: new Map(), capped: new Map(), arrived: new Map(), steps: new Map() },
    ...{ garbage: [], workflow: '', agents: { open: '', capped: '' } },
  };
  const upstream = await startUpstream((req, res, body) => answer(record, req, res, body));
  await system.command(['create-tenant', '--slug', SLUG, '--plan', 'enterprise']);
  const { api_key: key = '' } = await system.command(['create-key', '--slug', SLUG, '--space', 'live', '--role', 'Key - Infrastructure']);
  let running = true;
  let serial = 0;

  /** One write, repeated with its key until it has an answer. */
  const write = async (method: string, path: string, body: object, once: string): Promise<Answer['body'] | undefined> => {
    while (running) {
      const got = await json(`${system.api}/v1${path}`, {
        method,
        key,
        body,
        headers: { 'idempotency-key': once, 'x-idempotency-key': once },
        timeout: 30_000,
      }).catch(() => null);
      if (got && got.status < 300) return got.body;
      const type = got?.body?.error?.type;
      // A web process that is killed takes along whether it did what was asked: the front door says so, and the key makes a repetition safe.
      const passes =
        !got || got.status === 429 || got.status === 503 || type === 'request_in_progress' || /failed while processing/.test(got.text);
      if (!passes) record.garbage.push(`${method} ${path} ${once}: ${got.status} ${got.text.slice(0, 300)}`);
      await sleep(got?.status === 429 ? 1_000 : 100);
    }
    return undefined;
  };
  const made = async (path: string, body: object, method = 'POST') => (await write(method, path, body, `setup-${path}-${serial++}`))?.data;
  const tokens = await prepare(record, made, upstream);

  const writer = async () => {
    const name = `write-${serial++}`;
    record.clients.begun.add(name);
    const got = await write('POST', '/clients', { name, ip_address: '203.0.113.7' }, name);
    if (got) record.clients.acknowledged.set(name, got.data.id);
  };
  const minter = async () => {
    const name = `mint-${serial++}`;
    record.keys.begun.add(name);
    const got = await write('POST', '/api-keys', { name }, name);
    if (!got) return;
    record.keys.acknowledged.set(name, got.data.id);
    record.keys.secrets.set(name, got.data.api_key);
  };
  const runner = async () => {
    const name = `run-${serial++}`;
    record.runs.begun.add(name);
    const got = await write('POST', `/workflows/${record.workflow}/execute`, { input: { name } }, name);
    if (got) record.runs.acknowledged.set(name, got.data.execution_id ?? got.data.id);
  };
  const caller = async () => {
    const id = `call-${serial++}`;
    const got = await json(`${system.proxy}/p/${SLUG}/orders`, { headers: { 'x-svc-key': key, 'x-call': id }, timeout: 30_000 }).catch(
      () => null,
    );
    if (got?.status === 200) record.calls.set(id, got.headers.get('x-svc-request-id') ?? '');
    return got?.status === 200;
  };
  const spender = async (to: Map<string, string>, agent: string, token: string) => {
    const id = `ai-${serial++}`;
    const body = { model: MODEL, messages: [{ role: 'user', content: id }], max_tokens: 500 };
    const url = `${system.api}/v1/ai/${agent}/v1/chat/completions`;
    const got = await json(url, { key: token, body, timeout: 30_000 }).catch(() => null);
    if (got?.status === 200) to.set(id, got.headers.get('x-svc-request-id') ?? got.headers.get('x-request-id') ?? '');
    return got?.status === 200;
  };
  const acceptsKey = async (one: string) => (await json(`${system.api}/v1/environments`, { key: one }).catch(() => null))?.status === 200;

  const loop = async (step: () => Promise<unknown>, pauseMs: number) => {
    while (running) {
      await step();
      await sleep(pauseMs);
    }
  };
  await until('the first calls go through', async () => (await caller()) && (await spender(record.spent, 'open', tokens.open)));
  const loops = Promise.all([
    ...[1, 2].map(() => loop(writer, 250)),
    loop(minter, 700),
    loop(runner, 350),
    ...[1, 2, 3].map(() => loop(caller, 60)),
    ...[1, 2].map(() => loop(() => spender(record.spent, 'open', tokens.open), 150)),
    ...[1, 2, 3].map(() => loop(() => spender(record.capped, 'capped', tokens.capped), 400)),
  ]);
  loops.catch(() => undefined); // told by stop
  return {
    record,
    /** Whether every kind of work went on since. */
    works: async () => {
      const counts = () =>
        [record.clients, record.keys, record.runs].map((one) => one.acknowledged.size).concat(record.calls.size, record.spent.size);
      const before = counts();
      await until('all work goes on', () => record.garbage.length > 0 || counts().every((n, i) => n > (before[i] ?? 0)));
      if (record.garbage.length > 0) throw new Error(record.garbage.join('\n').slice(0, 4_000));
      return true;
    },
    acceptsKey,
    stop: async () => {
      running = false;
      await loops;
    },
    close: upstream.close,
  };
}

async function prepare(record: Record, made: (path: string, body: object, method?: string) => Promise<Answer['body']>, upstream: Upstream) {
  await made('/routes', { name: 'orders', slug: 'orders', target_base_url: `${upstream.url}/orders` });
  const provider = await made('/routes', { name: 'provider', slug: 'provider', target_base_url: upstream.url });
  await made(`/ai-gateway/prices/custom/${MODEL}`, { input_per_mtok: 1, output_per_mtok: 4 }, 'PUT');
  const gateway = await made('/ai-gateway/gateways', { name: 'Kills', slug: 'kills' });
  const tokens = { open: '', capped: '' };
  for (const slug of ['open', 'capped'] as const) {
    const budget = { budget_daily_usd: slug === 'open' ? '100000' : String(Number(CAP_NANO) / 1e9) };
    const agent = await made(`/ai-gateway/gateways/${gateway.id}/agents`, {
      ...{ name: slug, slug, primary_route_id: provider.id, default_model: MODEL },
      ...budget,
    });
    record.agents[slug] = agent.id;
    tokens[slug] = (await made(`/ai-gateway/agents/${agent.id}/tokens`, { name: 'kills' })).token;
  }
  // Patient enough for any gateway that is started again.
  const retry = { attempts: 5, delayMs: 2_000, factor: 2 };
  const config = { route: 'orders', method: 'POST', path: '/step', body: { name: '{{trigger.data.name}}' }, retry };
  const workflow = await made('/workflows', {
    name: 'Kills',
    enabled: true,
    definition: {
      nodes: [
        { id: 'trigger-node', type: 'trigger', data: { config: { triggerType: 'manual' } } },
        { id: 'tell', type: 'route_request', data: { config } },
        { id: 'say', type: 'transform', data: { config: { fields: { name: '{{trigger.data.name}}' } } } },
      ],
      edges: [
        { source: 'trigger-node', target: 'tell' },
        { source: 'tell', target: 'say' },
      ],
    },
  });
  if (!workflow.enabled) record.garbage.push('the workflow is not enabled');
  record.workflow = workflow.id;
  return tokens;
}

function answer({ arrived, steps }: Record, req: http.IncomingMessage, res: http.ServerResponse, body: string): void {
  const note = (name: string) => arrived.set(name, (arrived.get(name) ?? 0) + 1);
  const call = req.headers['x-call'];
  if (req.url?.includes('/step')) {
    const { name } = JSON.parse(body) as { name: string };
    note(name);
    steps.set(name, (steps.get(name) ?? new Set()).add(String(req.headers['idempotency-key'])));
  } else if (call) note(String(call));
  if (req.method !== 'POST' || req.url?.includes('/step')) return void res.setHeader('content-type', 'application/json').end('{"ok":true}');
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  note(messages[0]?.content ?? '');
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
  const whole = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: MODEL, choices, usage };
  res.setHeader('content-type', 'application/json').end(JSON.stringify(whole));
}
