import { RootKeyRefused } from '#server/crypto/root-key.ts';
import { EnvError, type Role } from './env.ts';
import { log } from './log.ts';

/** Ends a process that can't start. Settings and keys that don't fit are said in words; only what is a fault of ours has a stack. */
export function endStart(role: Role, error: unknown): never {
  if (error instanceof EnvError) console.error(error.message);
  else if (error instanceof RootKeyRefused) log.fatal(error.message);
  else log.fatal({ err: error }, `the ${role} failed to start`);
  process.exit(1);
}

/** An address that can't be listened on, in words with the settings that choose it. */
export function listenError(error: unknown, port: number, address: string): unknown {
  const reason = LISTEN_REASONS[(error as NodeJS.ErrnoException).code ?? ''];
  return reason === undefined ? error : new EnvError([`PLANE_PORTS, PORT or BIND_ADDRESS: port ${port} on ${address} ${reason}`]);
}

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is already used by another program. Stop it, or choose another port',
  EACCES: "requires permissions this user doesn't have. Choose a port above 1023",
  EADDRNOTAVAIL: 'is not an address of this machine. Set BIND_ADDRESS to one, or to 0.0.0.0 for all',
};
