import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { EXIT, log, messageOf, openAgent, runAgent } from './agent.ts';
import { createControlPlane } from './control-plane.ts';
import type { DataPlane } from './data-plane.ts';
import { createDbListeners } from './db-listeners.ts';
import { doctor, doctorText } from './doctor.ts';
import { enroll } from './enroll.ts';
import { openHome, readCredentials } from './home.ts';
import { tunnelAllows } from './hosts.ts';
import { environmentLines, startIntercept } from './intercept.ts';
import { onboard, onboardText } from './onboard.ts';
import type { Mode } from './protocol.ts';
import { scan } from './scan.ts';
import { startServing } from './serving.ts';
import { readSettings, VERSION } from './settings.ts';
import { openSecret } from './stores.ts';
import { startTunnel, type Tunnel } from './tunnel.ts';

const HELP = `sallyport-agent ${VERSION}

  run         work in the mode this host was enrolled for
  control     keep the connection to the control plane and run its commands
  intercept   forward proxy on 127.0.0.1:7742 for programs on this host
  server      serve routes inside this network, on 127.0.0.1:7743; secrets are opened here
  proxy       the same, as a second process of an agent that exists already
  enroll      trade an install token (SVC_INSTALL_TOKEN or standard input) for credentials
  env         environment lines for programs that should use the forward proxy
  doctor      check what the agent needs
  scan        look for credentials in files, environments and connections; values stay here
  onboard     look for addresses and keys that are written into code
  version     the version

Settings: SVC_AGENT_HOME, SVC_AGENT_API, SVC_AGENT_PORT, SVC_AGENT_ID_FILE, SVC_AGENT_OFFLINE_GRACE_HOURS,
          SVC_AGENT_ALLOWED_UIDS (accounts that may use the forward proxy),
          SVC_AGENT_LISTEN (address:port of modes server and proxy), SVC_AGENT_CALLER_KEY (what their callers send in X-Svc-Key),
          SVC_AGENT_TUNNEL_HOSTS (host or host:port, separated by commas; off closes the tunnel).
Options: --json for doctor, scan and onboard.
`;

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, 'no-env': { type: 'boolean' }, 'no-connections': { type: 'boolean' } },
  });
  const [command = 'help', ...rest] = positionals;
  const settings = readSettings();
  switch (command) {
    case 'run':
    case 'control':
    case 'intercept':
    case 'server':
    case 'proxy':
      return work(command === 'run' ? undefined : command);
    case 'enroll': {
      const credentials = await enroll(settings, await givenToken());
      print(`Enrolled as ${credentials.agent_id} in mode ${credentials.mode}.`);
      return EXIT.stopped;
    }
    case 'env':
      print(environmentLines(openHome(settings.home), settings.port));
      return EXIT.stopped;
    case 'doctor': {
      const home = openHome(settings.home);
      const agent = readCredentials(home) || settings.agentId ? openAgent(settings) : undefined;
      const apiBase = agent?.controlPlane.apiBase ?? settings.apiBase;
      if (apiBase === undefined) throw new Error('This host isn’t enrolled. Set SVC_AGENT_API to check the way to the control plane.');
      const report = await doctor({
        home,
        apiBase,
        controlPlane: agent?.controlPlane ?? createControlPlane(apiBase),
        session: agent?.session,
        port: settings.port,
        listen: settings.listen,
        mode: agent?.credentials.mode ?? 'control',
      });
      print(values.json ? JSON.stringify(report) : doctorText(report));
      return report.ok ? EXIT.stopped : EXIT.failed;
    }
    case 'scan': {
      const report = scan({ ...(rest.length > 0 ? { paths: rest } : {}), env: !values['no-env'], connections: !values['no-connections'] });
      if (values.json) print(JSON.stringify(report));
      else {
        for (const one of report.findings)
          print(`${one.kind.padEnd(18)} ${one.first4}…  ${one.sha256_prefix}  ${one.path}${one.line_number ? `:${one.line_number}` : ''}`);
        for (const one of report.connections) print(`${`${one.kind} connection`.padEnd(18)} ${one.remote}:${one.port}`);
        print(`${report.findings.length} credentials in ${report.files} files.`);
      }
      return EXIT.stopped;
    }
    case 'onboard': {
      const report = onboard(rest[0] ?? process.cwd());
      print(values.json ? JSON.stringify(report) : onboardText(report));
      return EXIT.stopped;
    }
    case 'version':
      print(VERSION);
      return EXIT.stopped;
    default:
      process.stderr.write(HELP);
      return command === 'help' ? EXIT.stopped : 2;
  }
}

async function work(wanted: Mode | undefined): Promise<number> {
  const agent = openAgent(readSettings(), wanted);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  log('info', `agent ${agent.keys.agentId}, version ${VERSION}, mode ${agent.credentials.mode}`);
  // The first thing for programs of this host: without a session yet, what no route covers passes already.
  let proxy = agent.credentials.mode === 'intercept' ? await startIntercept(agent) : undefined;
  const databases = createDbListeners({
    open(id) {
      const opened = openSecret(agent.session, id, agent.session.manifest()?.environment);
      if (!opened) throw new Error('the secret of this listener isn’t in the bundle');
      return opened.value;
    },
    log: (message) => log('warn', message),
  });
  let tunnel: Tunnel | undefined;
  // Likewise: after a restart a bundle that still counts is served from, also while the control plane is away.
  let plane: DataPlane | undefined = decrypts(agent.credentials.mode) ? await startServing(agent) : undefined;
  const { tunnelHosts } = agent.settings;
  const code = await runAgent(agent, stop.signal, async () => {
    const mode = agent.session.mode();
    if (mode === 'intercept') proxy ??= await startIntercept(agent);
    else {
      await proxy?.close();
      proxy = undefined;
    }
    // What a host may decrypt follows the mode that the control plane says, whatever it was started as.
    if (decrypts(mode)) plane ??= await startServing(agent);
    else {
      await plane?.close();
      plane = undefined;
    }
    if (tunnelHosts?.length !== 0)
      tunnel ??= startTunnel({
        apiBase: agent.controlPlane.apiBase,
        agentId: agent.keys.agentId,
        token: () => agent.session.token(),
        allows: (host, port) => tunnelAllows(tunnelHosts, host, port),
      });
    const ports = await databases.apply(mode === 'intercept' ? (agent.session.manifest()?.db_listeners ?? []) : []);
    agent.listeners = [
      ...(proxy ? [{ port: proxy.port, protocol: 'http_proxy', open: true }] : []),
      ...(plane ? [{ port: plane.port, protocol: 'http', open: true }] : []),
      ...ports,
    ];
  });
  tunnel?.close();
  await Promise.all([proxy?.close(), plane?.close(), databases.close()]);
  return code;
}

const decrypts = (mode: Mode): boolean => mode === 'server' || mode === 'proxy';

/** Never an argument: a list of processes shows those. */
async function givenToken(): Promise<string> {
  const { SVC_INSTALL_TOKEN: given, SVC_AGENT_TOKEN: other } = readSettings().environment;
  if (given || other) return (given || other || '').trim();
  if (process.stdin.isTTY) process.stderr.write('Install token: ');
  return fs.readFileSync(0, 'utf8').trim();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    log('error', messageOf(error));
    process.exit(EXIT.failed);
  },
);
