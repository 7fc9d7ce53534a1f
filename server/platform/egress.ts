import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';
import { createResolver, type Resolver } from './http-out/resolver.ts';
import { egressSettings } from './http-out/settings.ts';

const held = processState('egress', (): { resolver?: Resolver; publicResolver?: Resolver } => ({}));

/** The guarded resolver of this process: the deployment's allow and deny lists, and its own addresses as places nobody may call. */
export function egress(): Resolver {
  const { UPSTREAM_PRIVATE_ALLOWLIST: privateAllowlist, ALLOW_HTTP_UPSTREAM: allowHttp, DEMO_UPSTREAM } = env;
  const operatorOrigins = DEMO_UPSTREAM === undefined ? [] : [DEMO_UPSTREAM];
  held.resolver ??= createResolver({ settings: egressSettings({ ...deployment(), privateAllowlist, operatorOrigins, allowHttp }) });
  return held.resolver;
}

/** The same without what the operator opened for upstreams: for addresses that anybody may name, signed in or not. */
export function publicEgress(): Resolver {
  held.publicResolver ??= createResolver({ settings: egressSettings(deployment()) });
  return held.publicResolver;
}

const deployment = () => ({
  denylist: env.UPSTREAM_DENYLIST,
  ownHosts: ownHosts(),
  ownPorts: [env.PORT, ...Object.values(env.PLANE_PORTS)],
  testHosts: env.SVC_EGRESS_TEST_HOSTS,
});

/** On one machine the planes are ports of localhost, and other ports there are not ours; behind real names every port is. */
function ownHosts(): string[] {
  const urls = [env.PUBLIC_API_URL, env.PUBLIC_SANDBOX_API_URL, env.PUBLIC_ADMIN_URL, env.PUBLIC_HOOKS_URL].map((url) => new URL(url));
  // An address needs no entry: the service's own ports are refused on every address of this machine.
  const named = urls.filter((url) => !url.hostname.startsWith('[')).map((url) => (url.hostname === 'localhost' ? url.host : url.hostname));
  const bases = [env.PROXY_BASE_HOST, ...(env.WRAP_BASE_HOST === undefined ? [] : [env.WRAP_BASE_HOST])];
  const ports = [env.PORT, ...Object.values(env.PLANE_PORTS)];
  return [...new Set([...named, ...bases.flatMap((base) => (base === 'localhost' ? ports.map((port) => `localhost:${port}`) : [base]))])];
}
