import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import type { Workspace } from '#server/testing/workspace.ts';
import { type Assembly, assemble } from './assemble.ts';
import type { Plane } from './core/plane.ts';

// A real gateway on a free loopback port, real upstreams beside it, and rows put in as the control plane writes them.

export type Running = Assembly & { port: number };

/** Never polls for changes during a test: what the gateway knows of them came by announcement. */
const POLL_MS = 24 * 3_600_000;

export async function startGateway(planes?: readonly Plane[]): Promise<Running> {
  const assembly = await assemble(planes, POLL_MS);
  // On a busy machine it serves the copy of the file's gateway before it, until it has read the database.
  await assembly.runtime.snapshots.poll();
  const { port } = await assembly.gateway.listen('proxy', 0, '127.0.0.1');
  onFileEnd(() => assembly.close(200));
  return { ...assembly, port };
}

export type Seen = {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  rawHeaders: string[];
  body: string;
};
export type Upstream = { url: string; port: number; seen: Seen[]; server: Server };

/** An upstream that notes what it got; it answers 200 `{"ok":true}` unless told otherwise. */
export async function startUpstream(answer?: (req: IncomingMessage, res: ServerResponse, body: Buffer) => void): Promise<Upstream> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('error', () => {});
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, rawHeaders: req.rawHeaders, body: body.toString() });
      if (answer) return answer(req, res, body);
      const text = '{"ok":true}';
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, seen, server };
}

type ConfigData = Omit<
  Parameters<ReturnType<typeof db>['route_environment_configs']['create']>[0]['data'],
  'id' | 'tenant_id' | 'sandbox' | 'route_id' | 'environment_id' | 'environment_name'
>;

/** A route of a workspace with its base configuration; `config` is written as columns. */
export async function makeRoute(
  w: Workspace,
  slug: string,
  target: string,
  config: Partial<ConfigData> = {},
  options: { space?: 'live' | 'test'; collectionId?: string; enabled?: boolean } = {},
) {
  const sandbox = options.space === 'test';
  const environment = await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox, is_default: true } });
  const scope = { tenant_id: w.tenant.id, sandbox };
  const route = await db().routes.create({
    data: {
      id: newId(),
      ...scope,
      name: `Route ${slug}`,
      slug,
      base_environment_id: environment.id,
      collection_id: options.collectionId ?? null,
      enabled: options.enabled ?? true,
    },
  });
  await db().route_environment_configs.create({
    data: {
      id: newId(),
      ...scope,
      route_id: route.id,
      environment_id: environment.id,
      environment_name: environment.name,
      is_base: true,
      target_base_url: target,
      ...config,
    } as never,
  });
  return { ...route, environment };
}

/** A string secret with values per environment name. */
export async function makeSecret(w: Workspace, name: string, values: Record<string, string>, more: Record<string, unknown> = {}) {
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const secret = await db().secrets.create({ data: { id: newId(), ...scope, name, shortcode_name: name, ...more } as never });
  for (const [environment_name, value] of Object.entries(values)) {
    const entry = await db().secret_environments.create({
      data: { id: newId(), ...scope, secret_id: secret.id, environment_name, value_version: 1 },
    });
    await putValue(w, entry.id, value, 1);
  }
  return secret;
}

/** A new value of a secret in an environment, as a rotation writes it. */
export async function putValue(w: Workspace, secretEnvironmentId: string, value: string, version: number) {
  const id = newId();
  const sealed = await keyring().sealValue(
    { tenant_id: w.tenant.id, space: 'live', purpose: 'secret_value', row_id: id },
    Buffer.from(value),
  );
  await db().$transaction([
    db().secret_values.create({
      data: { id, tenant_id: w.tenant.id, sandbox: false, secret_environment_id: secretEnvironmentId, value_version: version, ...sealed },
    }),
    db().secret_environments.update({ where: { id: secretEnvironmentId }, data: { current_value_id: id, value_version: version } }),
  ]);
}

export type Answer = { status: number; headers: Record<string, string>; raw: string[]; body: string; json: () => Record<string, never> };
export type Ask = {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  key?: string;
  onData?: (bytes: Buffer) => void;
};

/** One call over a connection of its own. `host` is a workspace label. */
export function ask(
  port: number,
  host: string,
  path: string,
  { method = 'GET', headers = {}, body, key, onData }: Ask = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = {
      host: `${host}.localhost:${port}`,
      connection: 'close',
      ...(key && { 'x-svc-key': key }),
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    };
    const req = request({ port, host: '127.0.0.1', method, path, headers: sent, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        onData?.(chunk);
      });
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers as Record<string, string>,
          raw: res.rawHeaders,
          body: text,
          json: () => JSON.parse(text),
        });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/**
 * Everything written before is served after this, as after an answer of the control plane: the workspace, and those that share a secret with it, whose
 * keys open it.
 */
export async function served(running: Running, w: Workspace): Promise<void> {
  const owners = await db().secret_shares.findMany({ where: { recipient_tenant_id: w.tenant.id }, distinct: ['tenant_id'] });
  for (const { tenant_id } of owners) await running.runtime.snapshots.refresh(tenant_id);
  await running.runtime.snapshots.refresh(w.tenant.id);
}
