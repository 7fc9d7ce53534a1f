import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError } from 'commander';
import table from '../generated/operations.json' with { type: 'json' };
import type { OperationTable } from '../operation.ts';
import { addAccountCommands } from './account-commands.ts';
import { addAiCommands } from './ai/commands.ts';
import { addApiCommand } from './api-command.ts';
import { addCallCommand } from './call.ts';
import { addConfigCommands } from './config/commands.ts';
import { addImportCommands } from './config/import/commands.ts';
import { EXIT, report } from './exit.ts';
import { addLoginCommand } from './login.ts';
import { addLogsCommand } from './logs.ts';
import { addOperationCommands } from './operation-commands.ts';
import { addRunCommand } from './run.ts';
import type { Shared } from './shared.ts';
import type { Terminal } from './terminal.ts';

/** Runs one command line. @returns the exit code */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  let code: number | undefined;
  const shared: Shared = {
    terminal,
    table: table as OperationTable,
    end: (ended) => {
      code = ended;
    },
  };
  const program = programOf(shared);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code ?? (terminal.signal.aborted ? EXIT.interrupted : EXIT.ok);
  } catch (error) {
    // Its message has been printed. Help that was asked for is no failure.
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? EXIT.ok : error.code === 'service-cli.refused' ? EXIT.refused : EXIT.usage;
    return report(error, terminal, program.opts<{ profile?: string }>().profile);
  }
}

/** The whole command line, with every operation of the Management API. */
export function programOf(shared: Shared): Command {
  const { terminal } = shared;
  const { bold, red } = terminal.style;
  const program = new Command('service-cli')
    .description('Sallyport from the terminal: sign in, call routes, read logs, and every operation of the Management API.')
    .version('0.1.0', '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .option('--profile <name>', 'login to use (default: the current one, or SERVICE_PROFILE)')
    .option('--host <url>', 'address of the Management API')
    .option('--json', 'print the answer as JSON')
    .configureHelp({ styleTitle: bold, sortSubcommands: false, showGlobalOptions: false, helpWidth: Math.min(terminal.width, 110) })
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.error(text.trimEnd()),
      outputError: (text, write) => write(withoutKeys(text.replace(/^error:/, red('Error:')))),
    })
    .showSuggestionAfterError()
    .exitOverride();
  program.commandsGroup('Sign in:');
  addLoginCommand(program, shared);
  addAccountCommands(program, shared);
  program.commandsGroup('Use your routes:');
  addCallCommand(program, shared);
  addLogsCommand(program, shared);
  addRunCommand(program, shared);
  addAiCommands(program, shared);
  addConfigCommands(program, shared);
  addImportCommands(program, shared);
  addOperationCommands(program, shared);
  program.commandsGroup('Other:');
  addApiCommand(program, shared);
  tab(program, { completionCommandName: 'completion' });
  program.addHelpText('after', HELP);
  return program;
}

/** A key that was typed in a wrong place is not printed back, where logs of CI jobs would keep it. */
const withoutKeys = (text: string) => text.replace(/\b(tk_(?:live|test)_|AKE)[\x21-\x7e]{4,}/g, '$1…');

const HELP = `
Examples:
  service-cli login
  service-cli routes list
  service-cli secrets create --name PARTNER_KEY
  service-cli call orders /v1/charges --data '{"amount": 2000}'
  service-cli logs --follow

Exit codes:
  0 done, 1 refused by the service, 2 wrong usage, 3 not signed in, 4 not found, 5 no connection, 130 interrupted`;
