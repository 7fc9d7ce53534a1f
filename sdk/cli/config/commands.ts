import { type Command, CommanderError } from 'commander';
import { CliError, EXIT } from '../exit.ts';
import type { Shared } from '../shared.ts';
import { KIND_NAMES } from './document.ts';
import type { ExportFlags, Flags } from './run.ts';

/** `diff` ended with differences: what terraform's detailed exit code is, so that a pipeline can tell. */
const DIFFERENT = 2;

/** What reads and judges files takes a tenth of a second to load, which every other command would wait for. */
const load = () => import('./run.ts');

/** Configuration as code: `apply`, `diff`, `export` and `schema`. */
export function addConfigCommands(program: Command, { terminal, end }: Shared): void {
  program.commandsGroup('Configuration as code:');
  withFiles(program.command('apply').description('Make the workspace what the files say. Prints the plan and asks first.'))
    .option('--dry-run', 'print the plan and change nothing')
    .option('-y, --yes', 'don’t ask for confirmation')
    .option('--prune', 'delete what an earlier apply made and no file names any more; needs --state')
    .option('--state <file>', 'remember what apply makes in this file')
    .action(async (_flags, command: Command) => {
      const { apply } = await load();
      await apply(command.optsWithGlobals<Flags>(), terminal);
    });

  const diff = withFiles(program.command('diff').description('Show how the workspace differs from the files.'));
  diff.addHelpText('after', '\nExit codes:\n  0 no differences, 2 differences, 1 anything else');
  // A misspelt flag must not look like a difference.
  diff.exitOverride((error) => {
    throw error.exitCode === 0 ? error : new CommanderError(EXIT.refused, 'service-cli.refused', error.message);
  });
  diff.action(async (_flags, command: Command) => {
    const { compare } = await load();
    try {
      if (await compare(command.optsWithGlobals<Flags>(), terminal)) end(DIFFERENT);
    } catch (error) {
      if (error instanceof CliError && error.code === EXIT.usage)
        throw new CliError(error.message, { code: EXIT.refused, ...(error.next_step ? { next_step: error.next_step } : {}) });
      throw error;
    }
  });

  program
    .command('export')
    .description('Write the workspace as a file that apply reads. Without IDs and values of secrets.')
    .option('-o, --output <file>', 'write to this file (default: standard output)')
    .option('--space <space>', 'refuse a credential of the other space: live or test')
    .option('--only <kind>', `one of ${KIND_NAMES.join(', ')}. Repeat for several.`, several)
    .action(async (_flags, command: Command) => {
      const { exportAll } = await load();
      await exportAll(command.optsWithGlobals<ExportFlags>(), terminal);
    });

  program
    .command('schema')
    .description('Print the JSON Schema of the files, for editors and checks.')
    .action(async () => {
      const { printSchema } = await load();
      printSchema(terminal);
    });
}

const several = (one: string, all?: string[]) => [...(all ?? []), one];

const withFiles = (command: Command): Command =>
  command.requiredOption('-f, --file <path>', 'file, folder or - for standard input. Repeat for several.', several);
