import { drive } from './load.ts';
import { median, residentMiB } from './machine.ts';
import type { Bench } from './proxies.ts';
import { type Row, say } from './report.ts';

const calls = 200_000;
const warmUp = 50_000;
/** What the collector may keep for itself between two of its runs. */
const tolerance = 1.1;

/** Resident memory of the gateway while it serves 200,000 calls: the last third against the first, after a warm-up. */
export async function measureMemory({ proxies, directory, gatewayPid }: Bench): Promise<Row[]> {
  const ours = proxies.get('sallyport');
  if (!ours) throw new Error('It is started for this part.');
  const load = { url: `${ours.url}/small`, headers: ours.headers, connections: 32, seconds: 2 };
  let done = 0;
  while (done < warmUp) done += (await drive(load, directory)).requests;
  const samples: { after: number; mib: number }[] = [];
  for (let served = 0; served < calls; ) {
    const timer = setInterval(() => samples.push({ after: served, mib: residentMiB(gatewayPid) }), 100);
    served += (await drive(load, directory)).requests;
    clearInterval(timer);
    say(`after ${served} calls: ${residentMiB(gatewayPid).toFixed(0)} MiB`);
  }
  const third = Math.floor(samples.length / 3);
  const mib = samples.map((sample) => sample.mib);
  const early = median(mib.slice(0, third));
  const late = median(mib.slice(-third));
  return [
    {
      what: 'memory over 200,000 calls',
      measured: `${late.toFixed(0)} MiB`,
      against: `before ${early.toFixed(0)} MiB`,
      value: `${((late / early - 1) * 100).toFixed(1)} %`,
      target: `<= +${Math.round((tolerance - 1) * 100)} %`,
      pass: late <= early * tolerance,
    },
  ];
}
