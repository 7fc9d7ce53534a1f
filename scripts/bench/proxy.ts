import { cpuSeconds, median } from './machine.ts';
import { type Bench, type Contender, type Measured, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';

const rounds = 3;

/** CPU of a small GET and of bodies of 100 KB, in alternating rounds, as ratios within each round. */
export async function measureProxy(bench: Bench): Promise<Row[]> {
  const { small, database } = await smallGets(bench);
  const ours = small.get('sallyport') ?? [];
  const ratios = (name: Contender['name'], of: (mine: number, theirs: number) => number) =>
    median(ours.map((mine, round) => of(mine.cpu, small.get(name)?.[round]?.cpu ?? Number.NaN)));
  const cpu = (name: Contender['name']) => micros(median((small.get(name) ?? []).map((m) => m.cpu)));
  const toNginx = ratios('nginx', (mine, theirs) => mine / theirs);
  const toNext = ratios('next', (mine, theirs) => theirs / mine);
  return [
    {
      what: 'small GET, CPU a call',
      measured: cpu('sallyport'),
      against: `nginx ${cpu('nginx')}`,
      value: times(toNginx),
      target: '<= 2.5 x',
      pass: toNginx <= 2.5,
    },
    {
      what: 'small GET, CPU a call',
      measured: cpu('sallyport'),
      against: `Next ${cpu('next')}`,
      value: `${times(toNext)} less`,
      target: '>= 15 x less',
      pass: toNext >= 15,
    },
    {
      what: 'its log row, CPU of PostgreSQL',
      measured: micros(median(database)),
      against: '',
      value: '',
      target: '',
      pass: null,
    },
  ];
}

async function smallGets({ proxies: all, directory, databasePids }: Bench) {
  const proxies = new Map([...all].filter(([name]) => name !== 'tuned nginx')); // nothing of a small call needs its buffers
  const shape: Shape = { connections: 32, seconds: 4 };
  // A process that has just begun still compiles: ours was up to a quarter dearer for its first two hundred thousand calls.
  for (const proxy of proxies.values()) await measure(proxy, '/small', { ...shape, seconds: 10 }, directory);
  const small = new Map<Contender['name'], Measured[]>();
  const database: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const proxy of proxies.values()) {
      const before = cpuSeconds(databasePids());
      const result = await measure(proxy, '/small', shape, directory);
      if (proxy.name === 'sallyport') database.push(((cpuSeconds(databasePids()) - before) / result.requests) * 1e6);
      small.set(proxy.name, [...(small.get(proxy.name) ?? []), result]);
      say(
        `small GET, round ${round}, ${proxy.name}: ${micros(result.cpu)}, ${Math.round(result.requests / shape.seconds)} calls/s, p50 ${result.p50} ms`,
      );
    }
  }
  return { small, database };
}
