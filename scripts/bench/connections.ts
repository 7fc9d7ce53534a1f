import { median } from './machine.ts';
import { type Bench, measure, type Shape } from './proxies.ts';
import { micros, type Row, say, times } from './report.ts';
import { CONNECTED } from './workspace.ts';

const rounds = 3;
const target = 1.1;
const shape: Shape = { connections: 32, seconds: 4 };
type Side = 'secret' | 'connection';

/** CPU of a small GET whose credential is the cached token of an OAuth2 connection, beside the same route with a plain secret, in alternating rounds. */
export async function measureConnections({ proxies, directory }: Bench): Promise<Row[]> {
  const gateway = proxies.get('sallyport');
  if (!gateway) throw new Error('the gateway is not among the proxies');
  const urls: Record<Side, string> = { secret: gateway.url, connection: gateway.url.replace(/[^/]*$/, CONNECTED) };
  const cpu: Record<Side, number[]> = { secret: [], connection: [] };
  for (let round = 0; round <= rounds; round++)
    for (const side of Object.keys(urls) as Side[]) {
      const seconds = round === 0 ? 10 : shape.seconds; // a process that has just begun still compiles
      const result = await measure({ ...gateway, url: urls[side] }, '/small', { ...shape, seconds }, directory);
      if (round === 0) continue;
      cpu[side].push(result.cpu);
      say(`${side}, round ${round}: ${micros(result.cpu)}, ${Math.round(result.requests / seconds)} calls/s, p50 ${result.p50} ms`);
    }
  const ratio = median(cpu.connection.map((us, round) => us / (cpu.secret[round] ?? Number.NaN)));
  return [
    {
      what: 'small GET with the cached token of a connection, CPU a call',
      measured: micros(median(cpu.connection)),
      against: `secret ${micros(median(cpu.secret))}`,
      value: times(ratio),
      target: `<= ${target} x`,
      pass: ratio <= target,
    },
  ];
}
