// Preloaded into every process that the supervisor starts: when the supervisor is gone, killed or crashed, the process stops as if asked to,
// so that no role keeps a port or a half-working system behind.
process.on('disconnect', () => {
  setTimeout(() => process.exit(1), 30_000).unref();
  process.kill(process.pid, 'SIGTERM');
});
process.channel?.unref();
