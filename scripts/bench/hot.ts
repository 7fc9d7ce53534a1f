import { cpuSeconds, familyOf, median } from './machine.ts';
import { measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';
import { install } from './service.ts';

const rounds = 3;
const shape: Shape = { connections: 16, seconds: 4 };
const target = 3;

/** A request with such a header is handed to web, which ignores it. */
const throughWeb = { 'If-None-Match': '"x"' };

/** CPU of `GET /v1/environments/{id}` answered by the gateway, beside the same call through web. PostgreSQL is reported apart: it is not a serving process. */
export async function measureHot(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  try {
    const { path, key } = await makeCall();
    const gateway = await installation.startGateway();
    const web = await installation.startWeb();
    const pids = () => [gateway.pid ?? 0, ...familyOf(web.pid ?? 0)];
    const url = `http://127.0.0.1:${installation.ports.api}`;
    const callers = {
      hot: { url, pids, headers: { Authorization: `Bearer ${key}` } },
      web: { url, pids, headers: { Authorization: `Bearer ${key}`, ...throughWeb } },
    };
    await assertSameAnswer(url + path, callers.hot.headers, callers.web.headers);
    const cpu = { hot: [] as number[], web: [] as number[] };
    const database = { hot: [] as number[], web: [] as number[] };
    for (const caller of ['hot', 'web'] as const) await measure(callers[caller], path, { ...shape, seconds: 10 }, directory);
    for (let round = 1; round <= rounds; round++)
      for (const caller of ['hot', 'web'] as const) {
        const before = cpuSeconds(installation.databasePids());
        const result = await measure(callers[caller], path, shape, directory);
        cpu[caller].push(result.cpu);
        database[caller].push(((cpuSeconds(installation.databasePids()) - before) / result.requests) * 1e6);
        say(
          `GET /v1/environments/{id}, round ${round}, ${caller}: ${micros(result.cpu)}, ${Math.round(result.requests / shape.seconds)} calls/s, p50 ${result.p50} ms`,
        );
      }
    const ratio = median(cpu.web.map((us, round) => us / (cpu.hot[round] ?? Number.NaN)));
    return [
      {
        what: 'hot GET of /v1, CPU a call',
        measured: micros(median(cpu.hot)),
        against: `through web ${micros(median(cpu.web))}`,
        value: `${times(ratio)} less`,
        target: `>= ${target} x less`,
        pass: ratio >= target,
      },
      {
        what: 'hot GET of /v1, CPU of PostgreSQL',
        measured: micros(median(database.hot)),
        against: `through web ${micros(median(database.web))}`,
        value: '',
        target: '',
        pass: null,
      },
    ];
  } finally {
    await installation.stop();
  }
}

async function makeCall(): Promise<{ path: string; key: string }> {
  const operator = await import('../../server/domain/operator/service.ts');
  const { listEnvironments } = await import('../../server/domain/environments/service.ts');
  const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
  const [environment] = await listEnvironments(operator.operatorCtx(tenant.id, 'live'));
  const { api_key } = await operator.createKey({ slug: 'bench', space: 'live', role: 'Key - Infrastructure' });
  return { path: `/v1/environments/${environment?.id}`, key: api_key };
}

/** Both ways must give the same status, headers and body, but for request id and date. */
async function assertSameAnswer(url: string, ...callers: Record<string, string>[]): Promise<void> {
  const answers = await Promise.all(
    callers.map(async (headers) => {
      const answer = await fetch(url, { headers });
      const body = await answer.text();
      if (answer.status !== 200) throw new Error(`${url} isn't served: ${answer.status} ${body.slice(0, 300)}`);
      const id = answer.headers.get('x-request-id') ?? '';
      return [...[...answer.headers].filter(([name]) => name !== 'date').map((one) => one.join(': ')), body]
        .join('\n')
        .replaceAll(id, 'ID');
    }),
  );
  if (new Set(answers).size > 1) throw new Error(`The gateway and web answer differently:\n${answers.join('\n\n')}`);
}
