import { median } from './machine.ts';
import { type Bench, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';

const rounds = 3;
const target = 1.1;
const shape: Shape = { connections: 32, seconds: 4 };
const SIDES = { route: '/small', token: '/small', proxy: '' } as const;
type Side = keyof typeof SIDES;

/** CPU of a small GET with a key in escrow, by a gateway token and by the ephemeral proxy, beside a route that injects a secret, in alternating rounds. */
export async function measureWrap({ proxies, directory, wrapped }: Bench): Promise<Row[]> {
  const gateway = proxies.get('sallyport');
  if (!gateway) throw new Error('the gateway is not among the proxies');
  const cpu: Record<Side, number[]> = { route: [], token: [], proxy: [] };
  for (let round = 0; round <= rounds; round++)
    for (const side of Object.keys(SIDES) as Side[]) {
      const seconds = round === 0 ? 10 : shape.seconds; // a process that has just begun still compiles
      const result = await measure({ ...gateway, ...wrapped[side] }, SIDES[side], { ...shape, seconds }, directory);
      if (round === 0) continue;
      cpu[side].push(result.cpu);
      say(`wrap ${side}, round ${round}: ${micros(result.cpu)}, ${Math.round(result.requests / seconds)} calls/s, p50 ${result.p50} ms`);
    }
  return (['token', 'proxy'] as const).map((side): Row => {
    const ratio = median(cpu[side].map((us, round) => us / (cpu.route[round] ?? Number.NaN)));
    return {
      what: `small GET over TLS by ${side === 'token' ? 'a gateway token' : '/v1/proxy'}, CPU a call`,
      measured: micros(median(cpu[side])),
      against: `route ${micros(median(cpu.route))}`,
      value: times(ratio),
      target: `<= ${target} x`,
      pass: ratio <= target,
    };
  });
}
