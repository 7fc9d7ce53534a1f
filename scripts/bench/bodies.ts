import { median } from './machine.ts';
import { type Bench, type Contender, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';

const rounds = 3;
const shape = { connections: 16, seconds: 4 } as const;
const upload = { ...shape, method: 'POST', bodyBytes: 100 * 1024 } as const;
const kinds: readonly { what: string; path: string; shape: Shape; type?: string }[] = [
  { what: '100 KB down', path: '/large', shape },
  { what: '100 KB up', path: '/sink', shape: upload, type: 'application/octet-stream' },
  // This one is read whole and searched for placeholders of the caller.
  { what: '100 KB of JSON up', path: '/sink', shape: upload, type: 'application/json' },
];
const names = ['sallyport', 'nginx', 'tuned nginx'] as const;
type Name = (typeof names)[number];

/** Bodies of 100 KB in each direction, against nginx as it comes, and for information against one with buffers for such bodies. */
export async function measureBodies(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of kinds) {
    const cpu = await alternate(bench, kind);
    for (const peer of ['nginx', 'tuned nginx'] as const) {
      const ratio = median(cpu.sallyport.map((us, round) => us / (cpu[peer][round] ?? Number.NaN)));
      const target = peer === 'nginx';
      rows.push({
        what: `${kind.what}, CPU a call`,
        measured: micros(median(cpu.sallyport)),
        against: `${peer} ${micros(median(cpu[peer]))}`,
        value: times(ratio),
        target: target ? '<= 1.3 x' : '',
        pass: target ? ratio <= 1.3 : null,
      });
    }
  }
  return rows;
}

async function alternate(
  { proxies, directory }: Bench,
  { what, path, shape, type }: (typeof kinds)[number],
): Promise<Record<Name, number[]>> {
  const cpu: Record<Name, number[]> = { sallyport: [], nginx: [], 'tuned nginx': [] };
  const run = (proxy: Contender, seconds: number) => {
    const headers = { ...proxy.headers, ...(type && { 'Content-Type': type }) };
    return measure({ ...proxy, headers }, path, { ...shape, seconds }, directory);
  };
  const contenders = names.flatMap((name) => proxies.get(name) ?? []);
  for (const proxy of contenders) await run(proxy, 2);
  for (let round = 1; round <= rounds; round++) {
    for (const proxy of contenders) cpu[proxy.name as Name].push((await run(proxy, shape.seconds)).cpu);
    say(`${what}, round ${round}: ${names.map((name) => `${name} ${micros(cpu[name].at(-1) ?? Number.NaN)}`).join(', ')}`);
  }
  return cpu;
}
