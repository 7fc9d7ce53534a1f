import type { Env } from '../server/platform/env.ts';

type Settings = Pick<
  Env,
  'SALLYPORT_ROLES' | 'PLANE_PORTS' | 'PROXY_BASE_HOST' | 'PUBLIC_ADMIN_URL' | 'PUBLIC_API_URL' | 'PUBLIC_SANDBOX_API_URL' | 'DATA_DIR'
>;

/** What a start with these roles serves, a line each: a machine of workers serves no address. */
export function addresses(env: Settings): string {
  const here = (role: Env['SALLYPORT_ROLES'][number]) => env.SALLYPORT_ROLES.includes(role);
  const workspaces = env.PLANE_PORTS.proxy
    ? `http://{workspace}.${env.PROXY_BASE_HOST}:${env.PLANE_PORTS.proxy}`
    : `https://{workspace}.${env.PROXY_BASE_HOST}`;
  const lines: (readonly [string, string] | false)[] = [
    here('web') && ['Dashboard', env.PUBLIC_ADMIN_URL],
    (here('web') || here('gateway')) && ['Live API', `${env.PUBLIC_API_URL}/v1`],
    (here('web') || here('gateway')) && ['Test API', `${env.PUBLIC_SANDBOX_API_URL}/v1`],
    here('gateway') && ['Workspaces', workspaces],
    ['Roles', env.SALLYPORT_ROLES.join(', ')],
    ['Data', env.DATA_DIR],
  ];
  return lines.flatMap((line) => (line ? [`  ${line[0].padEnd(12)}${line[1]}`] : [])).join('\n');
}
