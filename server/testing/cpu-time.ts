/** Milliseconds of processor time that synchronous `work` takes: a clock would also count what else runs on the machine. */
export function cpuTime(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}
