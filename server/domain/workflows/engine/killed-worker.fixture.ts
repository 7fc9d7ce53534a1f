import pg from 'pg';
import { startWorkflows } from './worker.ts';

// A worker that ends without a word (kill -9) around one of its commits, which its arguments name.

const [, , when, nth] = process.argv;
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('still here');
};

const real = pg.Pool.prototype.query as (this: pg.Pool, ...args: unknown[]) => Promise<unknown>;
let commits = 0;
pg.Pool.prototype.query = async function (this: pg.Pool, ...args: unknown[]) {
  const [asked] = args as [{ name?: string }];
  const due = asked?.name === 'workflow-commit' && ++commits === Number(nth);
  if (due && when === 'before') die();
  const result = await real.apply(this, args);
  if (due && when === 'after') die();
  return result;
} as typeof pg.Pool.prototype.query;

startWorkflows({ pauseMs: 50 });
