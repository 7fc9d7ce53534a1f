import fs from 'node:fs';
import path from 'node:path';
import { freePorts } from '#scripts/ports.ts';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { startWeb } from '#server/gateway/v1/web.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { createSallyport, type Sallyport } from '../../client.ts';
import { cli, type Ended } from '../cli.fixture.ts';
import { styleOf, type Terminal } from '../terminal.ts';

const [proxyPort = 0] = await freePorts(1);
const { directory } = await testDatabase({ SVC_GATEWAYS: '1', PLANE_PORTS: `api:1,sandbox:2,admin:3,proxy:${proxyPort}` });
await startWeb();
const { gateway } = await startGateway();
const { port } = await gateway.listen('api', 0, '127.0.0.1');
const { port: sandboxPort } = await gateway.listen('sandbox', 0, '127.0.0.1');

let files = 0;
/** A file of its own with this text. */
export function file(text: string, name = 'config.yaml'): string {
  const folder = path.join(directory, `files-${files++}`);
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
}

export type Home = {
  w: Workspace;
  sallyport: Sallyport;
  own: { tenant_id: string; sandbox: boolean };
  run: (args: readonly string[], more?: Parameters<typeof cli>[1]) => Promise<Ended>;
  /** What the API answers to a GET, through the CLI as a person would. */
  get: <T>(target: string) => Promise<T>;
};

/** A workspace of its own, and service-cli with a key of it. */
export async function home(space: 'live' | 'test' = 'live', variables: Record<string, string> = {}): Promise<Home> {
  const w = await workspace();
  const { text } = await w.key(space);
  const address = `http://localhost:${space === 'live' ? port : sandboxPort}`;
  const env = { SERVICE_API_KEY: text, SERVICE_BASE_URL: address, HOME: directory, ...variables };
  const run: Home['run'] = (args, more = {}) => cli(args, { ...more, env: { ...env, ...more.env } });
  return {
    w,
    sallyport: createSallyport({ base_url: address, credential: text }),
    own: { tenant_id: w.tenant.id, sandbox: space === 'test' },
    run,
    get: async (target) => (JSON.parse((await run(['api', 'GET', target, '--json'])).out) as { data: never }).data,
  };
}

/** A terminal that nobody reads. */
export const quiet: Terminal = {
  ...{ print: () => {}, error: () => {}, write: () => {}, interactive: false, canAsk: false, width: 100, style: styleOf(false), env: {} },
  ...{ ask: async () => '', askSecret: async () => '', readInput: async () => '', signal: new AbortController().signal },
};
