import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { after } from 'node:test';
import { freePort } from '#scripts/ports.ts';
import { until } from '#server/testing/until.ts';

/** `@modelcontextprotocol/server-everything` on a loopback port: a foreign upstream over real sockets. */
export async function startEverything(transport: 'streamableHttp' | 'sse'): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, ['node_modules/@modelcontextprotocol/server-everything/dist/index.js', transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  after(() => child.kill());
  await until(() => answers(port));
  return `http://127.0.0.1:${port}${transport === 'sse' ? '/sse' : '/mcp'}`;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
