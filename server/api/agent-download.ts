import { knowBuild } from '#server/domain/agents/builds.ts';
import { controlPlaneKey } from '#server/domain/agents/control-key.ts';
import { isKnownTag } from '#server/kernel/entity-tag.ts';
import { agentRelease } from '#server/platform/agent-release.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { type Edge, edgeOf } from './edge.ts';
import { secured } from './respond.ts';

/** Downloads of one address in a minute. */
const MOST_A_MINUTE = 60;

/**
 * The agent, its signature and the script that installs it, for anybody (interface rule 63 §8). The signature is the control plane's Ed25519 over version and
 * digest, so it is the agent's build seal as well; the script carries the key that it checks it with.
 */
export async function handleAgentDownload(req: Request, edge = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const answered = await answer(req, edge).catch((error: unknown) => {
    log.error({ err: error, request_id: edge.request_id }, 'cannot answer with the agent');
    return new Response(null, { status: 503 });
  });
  return secured(answered, edge.request_id);
}

async function answer(req: Request, edge: Edge): Promise<Response> {
  const file = fileAt(new URL(req.url).pathname);
  if (!file) return new Response(null, { status: 404 });
  if (req.method !== 'GET' && req.method !== 'HEAD') return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  if (await isTooOften(edge)) return new Response(null, { status: 429, headers: { 'retry-after': '60' } });
  const { type, body, tag } = await file(edge);
  const headers = { etag: `"${tag}"`, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
  if (isKnownTag(req.headers.get('if-none-match'), headers.etag)) return new Response(null, { status: 304, headers });
  return new Response(req.method === 'HEAD' ? null : new Uint8Array(body), {
    headers: { ...headers, 'content-type': type, 'content-length': String(body.length) },
  });
}

type File = { type: string; body: Buffer; tag: string };
const FILES: Readonly<Record<string, (edge: Edge) => Promise<File>>> = {
  '/agent/agent.mjs': async () => {
    const { program, sha256 } = agentRelease();
    return { type: 'text/javascript; charset=utf-8', body: program, tag: sha256 };
  },
  '/agent/agent.mjs.sig': async () => {
    const { version, sha256 } = agentRelease();
    const seal = await knowBuild({ version, os: 'any', arch: 'any', sha256 });
    return { type: 'text/plain; charset=utf-8', body: Buffer.from(`${seal}\n`), tag: `sig-${sha256}` };
  },
  '/agent/install.sh': async ({ space }) => {
    const { installScript, sha256 } = agentRelease();
    const api = space === 'test' ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL;
    const { pem } = await controlPlaneKey();
    const script = installScript.replaceAll('__API__', api).replaceAll('__PUBLIC_KEY__', pem.trim());
    return { type: 'text/x-shellscript; charset=utf-8', body: Buffer.from(script), tag: `install-${space}-${sha256}` };
  },
};

const fileAt = (path: string) => (Object.hasOwn(FILES, path) ? FILES[path] : undefined);

/** A failing counter lets the call pass: nothing here is secret. */
async function isTooOften({ ip }: Edge): Promise<boolean> {
  const window = Math.floor(Date.now() / 60_000);
  return (await windowCounter()(`agent-download:${ip ?? ''}`, window, 60, MOST_A_MINUTE + 1).catch(() => 0)) > MOST_A_MINUTE;
}
