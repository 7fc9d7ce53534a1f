import { processTerminal } from './process-terminal.ts';
import { runCommand } from './program.ts';

// The process of service-cli: one command line, and the exit code that belongs to how it ended.

const interrupted = new AbortController();
process.on('SIGINT', () => interrupted.abort());
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1)); // `| head` has seen enough
process.exitCode = await runCommand(process.argv.slice(2), processTerminal(interrupted));
process.stdin.destroy(); // a prompt may have left it open
