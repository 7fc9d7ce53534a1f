import fs from 'node:fs';
import net from 'node:net';
import type { ControlPlane } from './control-plane.ts';
import type { Home } from './home.ts';
import type { Session } from './session.ts';

export type Check = { name: string; ok: boolean; detail: string; next_step?: string };
export type DoctorReport = { ok: boolean; checks: Check[] };
type Patient = {
  home: Home;
  apiBase: string;
  controlPlane: ControlPlane;
  session: Session | undefined;
  port: number;
  mode: string;
  /** Where modes that serve routes listen. */
  listen: { host: string; port: number };
};

const MAX_SKEW_MS = 120_000;

/** Checks one after the other what an agent needs; the first that fails is usually the cause of the rest. */
export async function doctor({ home, apiBase, controlPlane, session, port, mode, listen }: Patient): Promise<DoctorReport> {
  const checks: Check[] = [];
  const check = async (name: string, next_step: string, look: () => Promise<string> | string) => {
    try {
      checks.push({ name, ok: true, detail: await look() });
    } catch (error) {
      checks.push({ name, ok: false, detail: error instanceof Error ? error.message : String(error), next_step });
    }
  };
  await check('node', 'Install Node.js 20 or newer.', () => {
    if (Number(process.versions.node.split('.')[0]) < 20) throw new Error(`Node.js ${process.versions.node} is too old.`);
    return process.versions.node;
  });
  await check('folder', `Run: chmod 711 ${home.folder}`, () => {
    if (process.platform !== 'win32' && (fs.statSync(home.folder).mode & 0o066) !== 0)
      throw new Error(`${home.folder} can be read by other accounts.`);
    return home.folder;
  });
  await check('control_plane', 'Allow outgoing HTTPS to the control plane from this host.', async () => {
    const { origin } = new URL(apiBase);
    const answer = await fetch(`${origin}/healthz`, { redirect: 'error', signal: AbortSignal.timeout(10_000) });
    await answer.body?.cancel();
    const date = Date.parse(answer.headers.get('date') ?? '');
    if (date && Math.abs(date - Date.now()) > MAX_SKEW_MS)
      throw new Error(`The clocks differ by ${Math.round((Date.now() - date) / 1000)} s. Set this host’s clock.`);
    return `${origin} answers ${answer.status}`;
  });
  if (session) {
    await check('session', 'Read the message; a revoked agent needs a new install token.', async () => {
      if (session.token() === undefined) await session.refresh();
      return `window ${session.bundle()?.window}, until ${session.bundle()?.expires_at}`;
    });
    await check('manifest', 'Run refresh.', () => {
      const manifest = session.manifest();
      if (!manifest) throw new Error('There is no manifest that still counts.');
      return `${manifest.routes.length} routes, ${manifest.intercept_rules.length} rules`;
    });
    await check('proxy_address', 'Allow outgoing connections to the proxy address.', async () => {
      const url = session.manifest()?.proxy_url;
      if (url === undefined) throw new Error('The manifest names no proxy address.');
      const at = new URL(url);
      await reachable(at.hostname, Number(at.port || (at.protocol === 'https:' ? 443 : 80)));
      return `${at.host} accepts connections`;
    });
    if (mode === 'intercept')
      await check('forward_proxy', 'Start the agent: systemctl start sallyport-agent', async () => {
        await reachable('127.0.0.1', port);
        return `127.0.0.1:${port} accepts connections`;
      });
    if (mode === 'server' || mode === 'proxy')
      await check('served_routes', 'Start the agent: systemctl start sallyport-agent', async () => {
        await reachable(listen.host.replace(/^0\.0\.0\.0$|^::$/, '127.0.0.1'), listen.port);
        return `${listen.host}:${listen.port} accepts connections`;
      });
  } else
    await check('enrolled', `Enrol this host with an install token. Control plane: ${controlPlane.apiBase}`, () => {
      throw new Error('This host has no credentials.');
    });
  return { ok: checks.every(({ ok }) => ok), checks };
}

function reachable(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, timeout: 5_000 });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => socket.destroy(new Error(`${host}:${port} doesn’t answer.`)));
    socket.once('error', reject);
  });
}

export function doctorText({ checks }: DoctorReport): string {
  return checks
    .map(
      ({ name, ok, detail, next_step }) =>
        `${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(14)} ${detail}${ok || !next_step ? '' : `\n     ${next_step}`}`,
    )
    .join('\n');
}
