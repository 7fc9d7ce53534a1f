import { families } from '../../components/families.ts';
import { cpuSeconds, residentMiB } from './machine.ts';
import { millis, type Row, say } from './report.ts';
import { type Installation, install } from './service.ts';

const views = 200;
const slug = 'bench';
const owner = { email: 'owner@bench.example', password: 'the connexion of the sciences' };

/** Resident memory of the web process after 200 page views, all pages of the dashboard in turn, and CPU per view. */
export async function measureWeb(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  try {
    const operator = await import('../../server/domain/operator/service.ts');
    await operator.provisionTenant({ slug, plan: 'enterprise', owner_email: owner.email, owner_password: owner.password });
    const web = await installation.startWeb();
    await installation.startGateway();
    const pid = web.pid ?? 0;
    const atStart = residentMiB(pid);
    const cookie = await signIn(installation);
    const pages = families.flatMap((family) =>
      family.pages.map(({ scope, path }) => ({ space: `/${slug}/test${path}`, workspace: `/${slug}${path}`, person: path })[scope]),
    );
    const before = cpuSeconds([pid]);
    for (let view = 0; view < views; view++) await open(installation, pages[view % pages.length] as string, cookie);
    const cpu = ((cpuSeconds([pid]) - before) / views) * 1000;
    const resident = residentMiB(pid);
    say(`${views} views of ${pages.length} pages: ${resident.toFixed(0)} MiB, ${millis(cpu)} of CPU each`);
    return [
      {
        what: `memory of web after ${views} page views`,
        measured: `${resident.toFixed(0)} MiB`,
        against: `at start ${atStart.toFixed(0)} MiB`,
        value: `${resident.toFixed(0)} MiB`,
        target: '<= 600 MiB',
        pass: resident <= 600,
      },
      { what: 'page view, CPU of web', measured: millis(cpu), against: '', value: '', target: '', pass: null },
    ];
  } finally {
    await installation.stop();
  }
}

async function signIn({ ports }: Installation): Promise<string> {
  const answer = await fetch(`http://localhost:${ports.admin}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(owner),
  });
  if (answer.status !== 200) throw new Error(`Signing in failed: ${answer.status} ${await answer.text()}`);
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

async function open({ ports }: Installation, path: string, cookie: string): Promise<void> {
  const answer = await fetch(`http://localhost:${ports.admin}${path}`, { headers: { Cookie: cookie }, redirect: 'manual' });
  const html = await answer.text();
  if (answer.status !== 200 || !html.includes('</html>')) throw new Error(`${path} wasn't served: ${answer.status}`);
}
