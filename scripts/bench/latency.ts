import { drive } from './load.ts';
import { median } from './machine.ts';
import type { Bench } from './proxies.ts';
import { millis, type Row, say } from './report.ts';

const rounds = 5;

/** What the gateway adds to the median of a call at one connection, where nothing waits for anything else. */
export async function measureLatency({ proxies, upstream, directory }: Bench): Promise<Row[]> {
  const ours = proxies.get('sallyport');
  const nginx = proxies.get('nginx');
  if (!ours || !nginx) throw new Error('Both are started for this part.');
  const p50 = async (url: string, headers: Record<string, string>, seconds: number) =>
    (await drive({ url: `${url}/small`, headers, connections: 1, seconds }, directory)).p50;
  await p50(ours.url, ours.headers, 3);
  const added = { ours: [] as number[], nginx: [] as number[] };
  for (let round = 1; round <= rounds; round++) {
    const direct = await p50(upstream, {}, 1);
    added.ours.push((await p50(ours.url, ours.headers, 2)) - direct);
    added.nginx.push((await p50(nginx.url, nginx.headers, 2)) - direct);
    say(
      `one connection, round ${round}: direct ${millis(direct)}, added ${millis(added.ours.at(-1) ?? 0)}, by nginx ${millis(added.nginx.at(-1) ?? 0)}`,
    );
  }
  const result = median(added.ours);
  return [
    {
      what: 'added p50, one connection',
      measured: millis(result),
      against: `nginx ${millis(median(added.nginx))}`,
      value: millis(result),
      target: '<= 0.30 ms',
      pass: result <= 0.3,
    },
  ];
}
