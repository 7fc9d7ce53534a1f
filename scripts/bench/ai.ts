import http from 'node:http';
import path from 'node:path';
import { Problem, root } from '../command.ts';
import { entitled } from '../entitled.ts';
import { freePorts } from '../ports.ts';
import { type AiGateway, startLiteLlm, startPortkey } from './ai-peers.ts';
import { get } from './http.ts';
import { drive, type Load } from './load.ts';
import { cores, cpuSeconds, median, percentile, spawnOn, stopChild, until } from './machine.ts';
import { micros, millis, type Row, say, times } from './report.ts';
import { install } from './service.ts';

const rounds = 3;
const seconds = 4;
const FRAMES = 200;
const CALLS_FOR_LATENCY = 300;
/** A token may call 10,000 times a minute, so there are enough of them for any load. */
const TOKENS = 60;
const PROMPT = { model: 'bench-model', messages: [{ role: 'user', content: 'Tell me about the quick brown fox. '.repeat(20) }] };
const WHOLE = JSON.stringify(PROMPT);
const STREAMED = JSON.stringify({ ...PROMPT, stream: true });

/**
 * CPU of a call of an agent beside LiteLLM's proxy and Portkey's gateway in front of the same provider (`BENCH_LITELLM` and `BENCH_PORTKEY` name them; without
 * them these rows are skipped), of a streamed frame beside one that our own proxy passes through, of the controls on a prompt, and the time to the first token.
 */
export async function measureAi(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  const [upstreamPort] = (await freePorts(1)) as [number];
  const file = path.join(root, 'scripts/bench/ai-upstream.ts');
  const upstream = spawnOn(cores.others, process.execPath, [file, JSON.stringify({ port: upstreamPort, frames: FRAMES })]);
  const origin = `http://127.0.0.1:${upstreamPort}`;
  const made = await makeAgent(installation.ports.proxy, origin);
  const gateway = await installation.startGateway();
  const ours: AiGateway = { ...made.agent, pid: gateway.pid ?? 0, stop: async () => {} };
  const plain: AiGateway = { ...made.route, pid: ours.pid, stop: async () => {} };
  try {
    await until(
      'The provider',
      () =>
        get(origin).then(
          () => true,
          () => false,
        ),
      10_000,
      upstream,
    );
    const litellm = process.env.BENCH_LITELLM;
    const portkey = process.env.BENCH_PORTKEY;
    const peers = [
      { name: 'LiteLLM', target: 5, gateway: litellm ? () => startLiteLlm(litellm, origin, directory) : undefined },
      { name: 'Portkey', target: 8, gateway: portkey ? () => startPortkey(portkey, origin) : undefined },
    ];
    const rows: Row[] = [];
    await cpuOfLoad(ours, WHOLE, directory); // to warm up
    for (const { name, target, gateway: start } of peers) rows.push(await besidePeer(name, target, ours, start, directory));
    rows.push(await besidePassThrough(ours, plain, directory), await controlsOnPrompt(), await timeToFirstToken(ours, origin));
    return rows;
  } finally {
    await stopChild(upstream);
    await installation.stop();
  }
}

async function besidePeer(
  name: string,
  target: number,
  ours: AiGateway,
  start: (() => Promise<AiGateway>) | undefined,
  directory: string,
): Promise<Row> {
  const what = 'AI call, CPU a call';
  if (!start) {
    say(`${name}: skipped, BENCH_${name.toUpperCase()} names none`);
    return {
      what,
      measured: micros(await cpuOfLoad(ours, WHOLE, directory)),
      against: `${name} skipped`,
      value: '',
      target: `>= ${target} x less`,
      pass: null,
    };
  }
  const peer = await start();
  try {
    // The first call of a gateway may load half of it.
    await until(`The first answer of ${name}`, () => isAnswered(peer), 60_000);
    await cpuOfLoad(peer, WHOLE, directory);
    const pairs: { mine: number; theirs: number }[] = [];
    for (let round = 1; round <= rounds; round++) {
      const pair = { mine: await cpuOfLoad(ours, WHOLE, directory), theirs: await cpuOfLoad(peer, WHOLE, directory) };
      say(`AI call, round ${round}: Sallyport ${micros(pair.mine)}, ${name} ${micros(pair.theirs)}`);
      pairs.push(pair);
    }
    const ratio = median(pairs.map(({ mine, theirs }) => theirs / mine));
    return {
      what,
      measured: micros(median(pairs.map(({ mine }) => mine))),
      against: `${name} ${micros(median(pairs.map(({ theirs }) => theirs)))}`,
      value: `${times(ratio)} less`,
      target: `>= ${target} x less`,
      pass: ratio >= target,
    };
  } finally {
    await peer.stop();
  }
}

async function besidePassThrough(ours: AiGateway, plain: AiGateway, directory: string): Promise<Row> {
  for (const one of [ours, plain]) await cpuOfLoad(one, STREAMED, directory);
  const pairs: { mine: number; theirs: number }[] = [];
  for (let round = 1; round <= rounds; round++) {
    const pair = {
      mine: (await cpuOfLoad(ours, STREAMED, directory)) / FRAMES,
      theirs: (await cpuOfLoad(plain, STREAMED, directory)) / FRAMES,
    };
    say(`streamed frame, round ${round}: agent ${micros(pair.mine)}, pass-through ${micros(pair.theirs)}`);
    pairs.push(pair);
  }
  const ratio = median(pairs.map(({ mine, theirs }) => mine / theirs));
  return {
    what: 'AI stream, CPU a frame',
    measured: micros(median(pairs.map(({ mine }) => mine))),
    against: `pass-through ${micros(median(pairs.map(({ theirs }) => theirs)))}`,
    value: times(ratio),
    target: '<= 1.5 x',
    pass: ratio <= 1.5,
  };
}

async function isAnswered({ url, headers }: AiGateway): Promise<boolean> {
  const answer = await fetch(url, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: WHOLE });
  const text = await answer.text();
  if (!answer.ok) say(`${url}: ${answer.status} ${text.slice(0, 200)}`);
  return answer.ok;
}

/** Microseconds of CPU a call. */
async function cpuOfLoad({ url, headers, pid, tokens }: AiGateway, body: string, directory: string): Promise<number> {
  const load: Load = { url, headers: { ...headers, 'Content-Type': 'application/json' }, method: 'POST', body, connections: 16, seconds };
  const before = cpuSeconds([pid]);
  const { requests } = await drive(tokens ? { ...load, rotating: { name: 'Authorization', values: tokens } } : load, directory);
  return ((cpuSeconds([pid]) - before) / requests) * 1e6;
}

/** The firewall and the detectors of PII on a prompt of 4 KB that holds some of what they look for, in this process. */
async function controlsOnPrompt(): Promise<Row> {
  const { scan } = await import('../../server/ai/firewall/scan.ts');
  const { builtInsOnly } = await import('../../server/ai/pii/policy.ts');
  const { piiSession } = await import('../../server/ai/pii/session.ts');
  const { createTokenizer } = await import('../../server/ai/pii/tokenizer.ts');
  const { agentPiiKey, conversationKey } = await import('../../server/crypto/pii-keys.ts');
  const { createSecretKey } = await import('node:crypto');
  const key = agentPiiKey(createSecretKey(Buffer.alloc(32, 7)), 'agent');
  const sentence = 'Please summarize the meeting of Tuesday, in which we discussed the plan for the next quarter and its budget. ';
  const text = `${sentence.repeat(18)}Write to jane.doe@example.com or call +41 44 668 18 00. ${sentence.repeat(18)}`.slice(0, 4_096);
  const once = () => {
    const tokenizer = createTokenizer(conversationKey(key, 'token', 'anchor'));
    scan(text);
    return piiSession({ policy: builtInsOnly('tokenize'), tokenizer, requestMode: 'tokenize', responseMode: 'detokenize' }).request([
      text,
    ])[0];
  };
  if (once() === text) throw new Problem('The detectors found nothing, so there is nothing to measure.');
  for (let i = 0; i < 200; i++) once();
  const taken = Array.from({ length: 300 }, () => {
    const began = performance.now();
    once();
    return performance.now() - began;
  });
  const ms = median(taken);
  return {
    what: 'firewall and PII, prompt of 4 KB',
    measured: millis(ms),
    against: '',
    value: millis(ms),
    target: '<= 1 ms',
    pass: ms <= 1,
  };
}

/** From sending the request to the first byte of the stream, one call at a time, in turns with the provider itself. */
async function timeToFirstToken({ url, headers, tokens = [] }: AiGateway, origin: string): Promise<Row> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const direct = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const taken: { ours: number; provider: number }[] = [];
  for (let i = 0; i < CALLS_FOR_LATENCY; i++) {
    const provider = await firstByteMs(`${origin}/v1/chat/completions`, {}, direct);
    taken.push({ provider, ours: await firstByteMs(url, { ...headers, Authorization: tokens[i % tokens.length] ?? '' }, agent) });
  }
  agent.destroy();
  direct.destroy();
  const warm = taken.slice(CALLS_FOR_LATENCY / 5);
  const p50 = {
    ours: percentile(
      warm.map(({ ours }) => ours),
      0.5,
    ),
    provider: percentile(
      warm.map(({ provider }) => provider),
      0.5,
    ),
  };
  const added = p50.ours - p50.provider;
  return {
    what: 'time to first token, p50',
    measured: millis(p50.ours),
    against: `provider ${millis(p50.provider)}`,
    value: `${millis(added)} added`,
    target: '<= 1 ms',
    pass: added <= 1,
  };
}

function firstByteMs(url: string, headers: Record<string, string>, agent: http.Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const options = {
      method: 'POST',
      agent,
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(STREAMED) },
    };
    const request = http.request(url, options, (response) => {
      let first = 0;
      response.on('data', () => {
        first ||= performance.now() - began;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(first) : reject(new Problem(`${url} answered ${response.statusCode}.`)),
      );
    });
    request.on('error', reject);
    request.end(STREAMED);
  });
}

/** A workspace with an agent as a careful customer sets it up, and a plain route to the same provider. */
async function makeAgent(proxyPort: number, origin: string) {
  const operator = await import('../../server/domain/operator/service.ts');
  const { createSecret } = await import('../../server/domain/secrets/service.ts');
  const { createRoute } = await import('../../server/domain/routes/service.ts');
  const { CreateRoute } = await import('../../server/domain/routes/schema.ts');
  const { createGateway } = await import('../../server/domain/ai-gateways/gateways.ts');
  const { createAgent } = await import('../../server/domain/ai-gateways/agents.ts');
  const { mintAgentToken } = await import('../../server/domain/ai-gateways/minting.ts');
  const { CreateAiGateway } = await import('../../server/domain/ai-gateways/schema.ts');
  const { CreateAiAgent } = await import('../../server/domain/ai-gateways/agents.schema.ts');
  const { MintAiToken } = await import('../../server/domain/ai-gateways/tokens.schema.ts');
  const { env } = await import('../../server/platform/env.ts');
  const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
  await operator.setLimit({ slug: 'bench', kind: 'tenant_rps', value: 1_000_000, reason: 'benchmark' });
  const ctx = () => entitled(operator.operatorCtx(tenant.id, 'live'));
  await createSecret(ctx(), { name: 'PROVIDER_KEY', value: 'sk_live_0123456789abcdef0123456789abcdef' });
  const settings = {
    name: 'provider',
    slug: 'provider',
    target_base_url: origin,
    inject_headers_json: { Authorization: 'Bearer {{secret:PROVIDER_KEY}}' },
  };
  const route = await createRoute(ctx(), CreateRoute.parse(settings));
  const gateway = await createGateway(ctx(), CreateAiGateway.parse({ name: 'Bench', slug: 'bench', budget_daily_usd: '1000000' }));
  const agent = await createAgent(
    ctx(),
    CreateAiAgent.parse({ id: gateway.id, name: 'Bench', slug: 'bench', primary_route_id: route.id, default_model: 'bench-model' }),
  );
  const tokens: string[] = [];
  for (let i = 0; i < TOKENS; i++) {
    const minted = await mintAgentToken(ctx(), MintAiToken.parse({ id: agent.id, scope: { rpm: 10_000 } }));
    tokens.push(`Bearer ${minted.token}`);
  }
  const key = await operator.createKey({ slug: 'bench', space: 'live', role: 'Key - Infrastructure' });
  const base = `http://127.0.0.1:${proxyPort}`;
  const host = `bench.${env.PROXY_BASE_HOST}:${proxyPort}`;
  return {
    agent: { url: `${base}/v1/ai/bench/v1/chat/completions`, headers: { Host: host }, tokens },
    route: { url: `${base}/provider/v1/chat/completions`, headers: { Host: host, 'X-Svc-Key': key.api_key } },
  };
}
