import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { onFileEnd } from './file-end.ts';

const asItIs = crypto.argon2;

/** The work, as memory times passes, that each hash was to cost while passwords were quick. */
export const hashCosts: number[] = [];

/**
 * For tests of who gets in, and not of how dear a guess is: from here on Argon2 does a thousandth of the work in this process, whatever it is told.
 * Returns what gives it its cost back, as the end of the file does. The hashes are of no use to a process that was not told the same.
 */
export function quickPasswords(): () => void {
  onFileEnd(() => use(asItIs));
  use((algorithm, parameters, callback) => {
    hashCosts.push(parameters.memory * parameters.passes);
    asItIs(algorithm, { ...parameters, memory: 64, passes: 1 }, callback);
  });
  return () => use(asItIs);
}

/** Named imports of the builtin follow. */
function use(argon2: typeof asItIs): void {
  crypto.argon2 = argon2;
  syncBuiltinESMExports();
}
