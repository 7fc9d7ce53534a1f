// Preloaded into every process that the supervisor starts: when the supervisor is gone, killed or crashed, the process stops as if asked to,
// so that no role keeps a port or a half-working system behind.
process.on('disconnect', () => {
  setTimeout(() => process.exit(1), 30_000).unref();
  process.kill(process.pid, 'SIGTERM');
});
process.channel?.unref();
// Not for the children of such a process: a forked worker whose channel is not held open would end at once.
process.execArgv = process.execArgv.filter((argument) => !argument.endsWith('/scripts/exit-with-supervisor.ts'));
