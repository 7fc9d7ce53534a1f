import { type Command, CommanderError } from 'commander';
import { CliError, EXIT } from '../exit.ts';
import { type Chosen, openSession, type Session } from '../session.ts';
import type { Shared } from '../shared.ts';
import { plain, type Terminal } from '../terminal.ts';
import { applyPlan } from './apply.ts';
import { configurationOf, configurationSchema } from './check.ts';
import { type Configuration, KIND_NAMES, type KindName } from './document.ts';
import { writeDocument } from './document-output.ts';
import { exportOf } from './export.ts';
import { readFiles } from './files.ts';
import { type Plan, pending, planOf, type Step } from './plan.ts';
import { printPlan } from './plan-output.ts';
import { type Remote, remoteOf } from './remote.ts';
import { readState, type State, writeState } from './state.ts';

type Flags = Chosen & { json?: boolean; file: string[]; yes?: boolean; dryRun?: boolean; prune?: boolean; state?: string };
type ExportFlags = Chosen & { json?: boolean; output?: string; space?: string; only?: string[] };

/** `diff` ended with differences: what terraform's detailed exit code is, so that a pipeline can tell. */
const DIFFERENT = 2;

/** Configuration as code: `apply`, `diff`, `export` and `schema`. */
export function addConfigCommands(program: Command, shared: Shared): void {
  const { terminal, end } = shared;
  program.commandsGroup('Configuration as code:');
  withFiles(program.command('apply').description('Make the workspace what the files say. Prints the plan and asks first.'))
    .option('--dry-run', 'print the plan and change nothing')
    .option('-y, --yes', 'don’t ask for confirmation')
    .option('--prune', 'delete what an earlier apply made and no file names any more; needs --state')
    .option('--state <file>', 'remember what apply makes in this file')
    .action(async (_flags, command: Command) => {
      await apply(command.optsWithGlobals<Flags>(), terminal);
    });

  const diff = withFiles(program.command('diff').description('Show how the workspace differs from the files.'));
  diff.addHelpText('after', '\nExit codes:\n  0 no differences, 2 differences, 1 anything else');
  // A misspelt flag must not look like a difference.
  diff.exitOverride((error) => {
    throw error.exitCode === 0 ? error : new CommanderError(EXIT.refused, 'service-cli.refused', error.message);
  });
  diff.action(async (_flags, command: Command) => {
    const flags = command.optsWithGlobals<Flags>();
    try {
      const { plan, workspace } = await plannedOf(flags, terminal);
      printPlan(plan, { json: flags.json === true, workspace }, terminal);
      if (pending(plan).length > 0) end(DIFFERENT);
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
    .option('--only <kind>', `one of ${KIND_NAMES.join(', ')}. Repeat for several.`, (one: string, all?: string[]) => [...(all ?? []), one])
    .action(async (_flags, command: Command) => {
      await exportAll(command.optsWithGlobals<ExportFlags>(), terminal);
    });

  program
    .command('schema')
    .description('Print the JSON Schema of the files, for editors and checks.')
    .action(() => terminal.print(JSON.stringify(configurationSchema, null, 2)));
}

const withFiles = (command: Command): Command =>
  command.requiredOption(
    '-f, --file <path>',
    'file, folder or - for standard input. Repeat for several.',
    (one: string, all?: string[]) => [...(all ?? []), one],
  );

async function apply(flags: Flags, terminal: Terminal): Promise<void> {
  if (flags.prune && flags.state === undefined)
    throw new CliError('--prune needs --state: it deletes only what an earlier apply made, and that file says what that was.', {
      next_step: 'Apply with --state FILE from now on, or list what has to go under _delete.',
    });
  const { plan, workspace, remote, configuration, state } = await plannedOf(flags, terminal);
  printPlan(plan, { json: flags.json === true, workspace }, terminal);
  const steps = pending(plan);
  if (flags.dryRun || steps.length === 0) return;
  await confirm(steps, flags, terminal);
  const making = { remote, env: terminal.env };
  const record = (step: Step, id: string) => {
    if (!state || flags.state === undefined) return;
    state.made = state.made.filter((one) => one.id !== id);
    if (step.action === 'create') state.made.push({ kind: step.kind, id, name: step.name });
    writeState(flags.state, state);
  };
  const quiet = flags.json ? { ...terminal, print: terminal.error } : terminal;
  await applyPlan(plan, making, record, quiet);
  await tellOfRest(configuration, remote, terminal);
}

async function plannedOf(
  flags: Flags,
  terminal: Terminal,
): Promise<{ plan: Plan; workspace: string; remote: Remote; configuration: Configuration; state: State | undefined }> {
  const configuration = configurationOf(await readFiles(flags.file, terminal));
  const session = openSession(terminal, flags);
  const { slug, space } = await ownerOf(session);
  if (configuration.space !== undefined && configuration.space !== space)
    throw new CliError(`The files are for the space ${configuration.space}, and this credential is of ${space}.`, {
      next_step: 'Choose another profile or credential.',
    });
  const workspace = `${slug} (${space})`;
  const state = flags.state === undefined ? undefined : readState(flags.state, { host: session.host, workspace });
  const remote = remoteOf(session.sallyport, terminal.signal);
  const plan = await planOf(configuration, remote, terminal.env, flags.prune ? state : undefined);
  return { plan, workspace, remote, configuration, state };
}

/** The workspace of a credential, and its space: not every credential tells by its text, but routes of Test are called at a host of their own. */
async function ownerOf({ sallyport }: Session): Promise<{ slug: string; space: 'live' | 'test' }> {
  const { slug, proxy_url } = (await sallyport.account.get()).data;
  return { slug, space: proxy_url.includes(`sandbox-${slug}`) ? 'test' : 'live' };
}

async function confirm(steps: readonly Step[], flags: Flags, terminal: Terminal): Promise<void> {
  if (flags.yes) return;
  const count = `${steps.length} ${steps.length === 1 ? 'change' : 'changes'}`;
  if (!terminal.canAsk) throw new CliError(`Making ${count} needs --yes where nobody can be asked.`, { next_step: 'Nothing was changed.' });
  const reply = await terminal.ask(`Make ${count}? [y/N] `);
  if (!/^y(?:es)?$/i.test(reply.trim())) throw new CliError('Nothing was changed.');
}

/** The service may store something in another spelling than the file has, which would be a difference for ever: said now rather than found later. */
async function tellOfRest(configuration: Configuration, remote: Remote, terminal: Terminal): Promise<void> {
  for (const kind of KIND_NAMES) remote.forget(kind);
  const rest = await planOf({ ...configuration, space: undefined }, remote, terminal.env);
  for (const { kind, name, changes } of pending(rest))
    for (const { field } of changes)
      terminal.error(
        `${terminal.style.yellow('Note:')} ${plain(`${kind}[${name}].${field}`)} is not stored as the file says it. Compare with service-cli export.`,
      );
}

async function exportAll(flags: ExportFlags, terminal: Terminal): Promise<void> {
  const only = (flags.only ?? [...KIND_NAMES]) as KindName[];
  const unknown = only.find((one) => !KIND_NAMES.includes(one));
  if (unknown !== undefined) throw new CliError(`${unknown} can't be exported.`, { next_step: `Kinds: ${KIND_NAMES.join(', ')}` });
  if (flags.space !== undefined && flags.space !== 'live' && flags.space !== 'test') throw new CliError('--space must be live or test.');
  const session = openSession(terminal, flags);
  const { space } = await ownerOf(session);
  if (flags.space !== undefined && flags.space !== space)
    throw new CliError(`This credential is of the space ${space}.`, { next_step: `Choose a profile or credential of ${flags.space}.` });
  const { document, notes } = await exportOf(remoteOf(session.sallyport, terminal.signal), space, only);
  for (const note of notes) terminal.error(`${terminal.style.yellow('Note:')} ${plain(note)}`);
  writeDocument(document, flags, terminal);
}
