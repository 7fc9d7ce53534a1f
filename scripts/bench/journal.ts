import { median } from './machine.ts';
import { type Bench, type Contender, type Measured, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';

const rounds = 5;
const busy: Shape = { connections: 32, seconds: 4 };
const quiet: Shape = { connections: 1, seconds: 3 };

/** A small GET with the journal of the request log on, beside the same without it and with a sync before each answer, in alternating rounds. */
export async function measureJournal({ proxies, startAnother, directory }: Bench): Promise<Row[]> {
  const on = proxies.get('sallyport');
  if (!on) throw new Error('the gateway is not among the proxies');
  const gateways: [mode: string, gateway: Contender][] = [
    ['off', await startAnother({ REQUEST_LOG_JOURNAL: 'off' })],
    ['on', on],
    ['fsync', await startAnother({ REQUEST_LOG_JOURNAL: 'fsync' })],
  ];
  for (const [, gateway] of gateways) await measure(gateway, '/small', { ...busy, seconds: 10 }, directory);
  const rows: Row[] = [];
  for (const [load, shape] of [
    ['32 connections', busy],
    ['one connection', quiet],
  ] as const) {
    const results = new Map<string, Measured[]>(gateways.map(([mode]) => [mode, []]));
    for (let round = 1; round <= rounds; round++)
      for (const [mode, gateway] of gateways) {
        const result = await measure(gateway, '/small', shape, directory);
        results.get(mode)?.push(result);
        say(`journal ${mode}, ${load}, round ${round}: ${micros(result.cpu)}, p50 ${result.p50} ms`);
      }
    const of = (mode: string) => results.get(mode) ?? [];
    const middle = (mode: string, what: 'cpu' | 'p50') => median(of(mode).map((one) => one[what]));
    for (const mode of ['on', 'fsync']) {
      const ratio = median(of(mode).map((one, round) => one.cpu / (of('off')[round]?.cpu ?? Number.NaN)));
      rows.push({
        what: `small GET, journal ${mode}, ${load}`,
        measured: `${micros(middle(mode, 'cpu'))}, p50 ${middle(mode, 'p50')} ms`,
        against: `off ${micros(middle('off', 'cpu'))}, p50 ${middle('off', 'p50')} ms`,
        value: times(ratio),
        target: '',
        pass: null,
      });
    }
  }
  return rows;
}
