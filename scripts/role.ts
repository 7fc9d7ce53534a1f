import { type ChildProcess, spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { log } from '../server/platform/log.ts';
import { root } from './command.ts';

export type RoleProcess = {
  name: string;
  /** The process that runs now, if any. */
  pid: () => number | undefined;
  /** Asks it to stop, and ends it when it has not within the time. It is not started again. */
  stop: (withinMs: number) => Promise<void>;
};

export type RoleOptions = {
  name: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Called when the process says that all it serves is there. */
  onReady?: () => void;
  /** Called when it has died `hopeless` times without living for ten seconds, before anything of the system was ready. */
  onHopeless: (name: string) => void;
};

const hopeless = 4;
const longLife = 10_000;

/** Keeps one process running: a crash starts it again after 250 ms, doubling to 5 s while it keeps crashing early. */
export function keepRunning({ name, args, env, onReady, onHopeless }: RoleOptions): RoleProcess {
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  let early = 0;

  const start = () => {
    const born = Date.now();
    const leash = pathToFileURL(`${root}/scripts/exit-with-supervisor.ts`).href;
    // Detached: a Ctrl-C in the terminal must reach the roles from the supervisor, in order, and not all at once.
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `--import=${leash}`, ...args], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', (message) => message === 'ready' && onReady?.());
    child.on('error', (error) => log.error({ role: name, err: error }, `could not start ${name}`));
    child.on('exit', (code, signal) => {
      child = undefined;
      if (stopping) return;
      early = Date.now() - born < longLife ? early + 1 : 0;
      const delay = Math.min(250 * 2 ** Math.max(0, early - 1), 5000);
      log.error({ role: name, code, signal, restart_in_ms: delay }, `${name} exited; restarting it`);
      timer = setTimeout(start, delay);
      if (early >= hopeless) onHopeless(name);
    });
  };
  start();

  return {
    name,
    pid: () => child?.pid,
    stop: async (withinMs) => {
      stopping = true;
      clearTimeout(timer);
      const last = child;
      if (!last || last.exitCode !== null) return;
      const ended = new Promise<void>((resolve) => last.once('exit', () => resolve()));
      const killer = setTimeout(() => {
        log.warn({ role: name }, `${name} did not stop in time and was killed`);
        last.kill('SIGKILL');
      }, withinMs);
      last.kill('SIGTERM');
      await ended;
      clearTimeout(killer);
    },
  };
}
