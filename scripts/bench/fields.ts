import { cpuSeconds, median } from './machine.ts';
import { type Bench, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';
import { CARD, DETOKENIZING, TOKENIZING } from './workspace.ts';

const rounds = 3;
const target = 1.4;
const shape: Shape = { connections: 32, seconds: 4, method: 'POST' };
type Side = 'plain' | 'tokenize' | 'detokenize';

/** CPU of a small JSON body of which a route tokenizes one field, or opens one token, beside the same route without, in alternating rounds. */
export async function measureFields({ proxies, directory, databasePids, token }: Bench): Promise<Row[]> {
  const gateway = proxies.get('sallyport');
  if (!gateway) throw new Error('the gateway is not among the proxies');
  const through = (slug: string) => gateway.url.replace(/[^/]*$/, slug);
  const sides: Record<Side, { url: string; number: string }> = {
    plain: { url: gateway.url, number: CARD },
    tokenize: { url: through(TOKENIZING), number: CARD },
    detokenize: { url: through(DETOKENIZING), number: token },
  };
  const headers = { ...gateway.headers, 'Content-Type': 'application/json' };
  const cpu: Record<Side, number[]> = { plain: [], tokenize: [], detokenize: [] };
  const database: Record<Side, number[]> = { plain: [], tokenize: [], detokenize: [] };
  for (let round = 0; round <= rounds; round++)
    for (const side of Object.keys(sides) as Side[]) {
      const { url, number } = sides[side];
      const body = JSON.stringify({ amount: 2000, currency: 'eur', card: { number, expires: '12/30' } });
      const before = cpuSeconds(databasePids());
      const seconds = round === 0 ? 10 : shape.seconds; // a process that has just begun still compiles
      const result = await measure({ ...gateway, url, headers }, '/sink', { ...shape, seconds, body }, directory);
      if (round === 0) continue;
      cpu[side].push(result.cpu);
      database[side].push(((cpuSeconds(databasePids()) - before) / result.requests) * 1e6);
      say(`fields ${side}, round ${round}: ${micros(result.cpu)}, ${Math.round(result.requests / seconds)} calls/s, p50 ${result.p50} ms`);
    }
  return (['tokenize', 'detokenize'] as const).flatMap((side): Row[] => {
    const ratio = median(cpu[side].map((us, round) => us / (cpu.plain[round] ?? Number.NaN)));
    return [
      {
        what: `small JSON up, one field: ${side}, CPU a call`,
        measured: micros(median(cpu[side])),
        against: `without ${micros(median(cpu.plain))}`,
        value: times(ratio),
        target: `<= ${target} x`,
        pass: ratio <= target,
      },
      {
        what: 'the same, CPU of PostgreSQL',
        measured: micros(median(database[side])),
        against: `without ${micros(median(database.plain))}`,
        value: '',
        target: '',
        pass: null,
      },
    ];
  });
}
