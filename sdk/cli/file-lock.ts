import { DatabaseSync } from 'node:sqlite';
import { pause } from '../exchange.ts';
import { CliError, EXIT } from './exit.ts';

/**
 * Runs `work` while no other process holds the lock. The lock is SQLite's on an empty file: the kernel lets go of it when a process dies, so that none
 * is ever left behind or taken from one that still works. Two refreshes with one refresh token would end the login (interface rule 21 §4.5).
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>, patience_ms = 45_000): Promise<T> {
  const lock = await acquire(file, Date.now() + patience_ms);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function acquire(file: string, until: number): Promise<DatabaseSync> {
  for (;;) {
    const lock = new DatabaseSync(file, { timeout: 0 });
    try {
      lock.exec('BEGIN EXCLUSIVE');
      return lock;
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    }
    if (Date.now() > until)
      throw new CliError('Another service-cli is still renewing this login.', { code: EXIT.refused, next_step: 'Run the command again.' });
    await pause(50);
  }
}

const SQLITE_BUSY = 5;
