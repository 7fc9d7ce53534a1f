import { spawn } from 'node:child_process';

/** Keeps a machine busy until it is stopped: eight processes, of which four only count and four move bytes through the kernel. */
export function startLoad(): { stop: () => void } {
  const busy = Array.from({ length: 8 }, (_, i) =>
    i % 2 === 0 ? spawn('yes', { stdio: 'ignore' }) : spawn('dd', ['if=/dev/zero', 'of=/dev/null'], { stdio: 'ignore' }),
  );
  const stop = () => {
    for (const one of busy) one.kill();
  };
  return { stop };
}
