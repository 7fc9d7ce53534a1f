import { median } from './machine.ts';
import { type Bench, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';

const rounds = 3;
const shape = { connections: 16, seconds: 4 } as const;
const kinds: readonly { what: string; path: string; shape: Shape; headers: Record<string, string> }[] = [
  { what: '100 KB down', path: '/large', shape, headers: {} },
  {
    what: '100 KB up',
    path: '/sink',
    shape: { ...shape, method: 'POST', bodyBytes: 100 * 1024 },
    headers: { 'Content-Type': 'application/octet-stream' },
  },
];

/** Bodies of 100 KB in each direction, against nginx. */
export async function measureBodies({ proxies, directory }: Bench): Promise<Row[]> {
  const ours = proxies.get('sallyport');
  const nginx = proxies.get('nginx');
  if (!ours || !nginx) throw new Error('Both are started for this part.');
  const rows: Row[] = [];
  for (const { what, path, shape, headers } of kinds) {
    const run = (proxy: typeof ours, seconds: number) =>
      measure({ ...proxy, headers: { ...proxy.headers, ...headers } }, path, { ...shape, seconds }, directory);
    await run(ours, 2);
    await run(nginx, 1);
    const mine: number[] = [];
    const theirs: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      mine.push((await run(ours, shape.seconds)).cpu);
      theirs.push((await run(nginx, shape.seconds)).cpu);
      say(`${what}, round ${round}: ${micros(mine.at(-1) ?? 0)}, nginx ${micros(theirs.at(-1) ?? 0)}`);
    }
    const ratio = median(mine.map((cpu, round) => cpu / (theirs[round] ?? Number.NaN)));
    rows.push({
      what: `${what}, CPU a call`,
      measured: micros(median(mine)),
      against: `nginx ${micros(median(theirs))}`,
      value: times(ratio),
      target: '<= 1.3 x',
      pass: ratio <= 1.3,
    });
  }
  return rows;
}
