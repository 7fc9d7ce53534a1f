import { readFileSync, readlinkSync } from 'node:fs';

// Whose file it is, told by its name: the kernel's run, the namespace of process numbers, the number, and when that process began. Numbers are given again.

/** This process among all that ever were. */
export const thisProcess: string = [bootOf(), namespaceOf(), process.pid, lifeOf(process.pid)?.began ?? '0'].join('.');

/** Whether the process has ended; undefined when it can't be seen from here: another machine, or a container beside this one. */
export function hasEnded(owner: string): boolean | undefined {
  const [boot, namespace, pid, began] = owner.split('.');
  if (boot === UNKNOWN || boot !== bootOf() || namespace !== namespaceOf()) return undefined;
  const life = lifeOf(Number(pid));
  return life === undefined || life.began !== began || life.state === 'Z' || life.state === 'X';
}

const UNKNOWN = '0';

function bootOf(): string {
  return tried(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)) ?? UNKNOWN;
}

/** A number that is given again only when nobody in the namespace is left. */
function namespaceOf(): string {
  return tried(() => readlinkSync('/proc/self/ns/pid').slice('pid:['.length, -1)) ?? UNKNOWN;
}

/** What follows the name, which may hold anything, in proc_pid_stat(5): the state first, the start as the twentieth. */
function lifeOf(pid: number): { state: string; began: string } | undefined {
  const stat = tried(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const [state = '', ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return stat === undefined ? undefined : { state, began: rest[18] ?? '' };
}

function tried(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
