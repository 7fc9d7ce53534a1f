import { median } from './machine.ts';
import { type Bench, type Measured, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';
import { KEEPING } from './workspace.ts';

const rounds = 3;
const shape: Shape = { connections: 32, seconds: 4 };

/** CPU of a small GET through a route that keeps its payloads, beside the same route without, in alternating rounds. */
export async function measurePayloads({ proxies, directory }: Bench): Promise<Row[]> {
  const plain = proxies.get('sallyport');
  if (!plain) throw new Error('the gateway is not among the proxies');
  const keeping = { ...plain, url: plain.url.replace(/[^/]*$/, KEEPING) };
  const off: Measured[] = [];
  const on: Measured[] = [];
  for (const proxy of [plain, keeping]) await measure(proxy, '/small', { ...shape, seconds: 10 }, directory);
  for (let round = 1; round <= rounds; round++)
    for (const [proxy, results] of [
      [plain, off],
      [keeping, on],
    ] as const) {
      const result = await measure(proxy, '/small', shape, directory);
      results.push(result);
      say(`payloads ${proxy === plain ? 'off' : 'kept'}, round ${round}: ${micros(result.cpu)}, p50 ${result.p50} ms`);
    }
  const cpu = (results: readonly Measured[]) => median(results.map((one) => one.cpu));
  const ratio = median(on.map((one, round) => one.cpu / (off[round]?.cpu ?? Number.NaN)));
  return [
    {
      what: 'small GET, payloads kept, CPU a call',
      measured: micros(cpu(on)),
      against: `off ${micros(cpu(off))}`,
      value: times(ratio),
      target: '',
      pass: null,
    },
  ];
}
