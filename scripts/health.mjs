// node scripts/health.mjs   exit code 0 when the roles of SALLYPORT_ROLES answer on this machine: for the health checks of containers. Plain JavaScript on
// builtins, because it runs every few seconds.
import http from 'node:http';
import path from 'node:path';

const {
  SALLYPORT_ROLES = 'gateway,web,worker',
  PLANE_PORTS,
  PORT,
  WEB_SOCKET,
  DATA_DIR = 'data',
  METRICS_PORT,
  METRICS_HOST,
} = process.env;
const first = /:(\d+)/.exec(PLANE_PORTS ?? '')?.[1];
const checks = {
  gateway: { host: '127.0.0.1', port: Number(first ?? PORT ?? 4000), path: '/readyz?only=calls' },
  web: { socketPath: WEB_SOCKET || path.resolve(DATA_DIR, 'run/web.sock'), path: '/__alive' },
  // A worker has no port but that of its metrics.
  worker: METRICS_PORT ? { host: local(METRICS_HOST), port: Number(METRICS_PORT) + 2, path: '/healthz' } : undefined,
};

const roles = SALLYPORT_ROLES.split(',').map((role) => role.trim());
const failed = [];
await Promise.all(roles.map(async (role) => checks[role] && !(await answers(checks[role])) && failed.push(role)));
if (failed.length > 0) console.error(`no good answer from ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);

/** @param {http.RequestOptions} target */
function answers(target) {
  return new Promise((resolve) => {
    const req = http.get({ ...target, timeout: 4_000, headers: { host: 'localhost' } }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    req.on('timeout', () => req.destroy(new Error('timeout')));
    req.on('error', () => resolve(false));
  });
}

/** @param {string | undefined} host */
function local(host) {
  return !host || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}
