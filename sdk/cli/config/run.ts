import { CliError } from '../exit.ts';
import { type Chosen, openSession, type Session } from '../session.ts';
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

export type Flags = Chosen & { json?: boolean; file: string[]; yes?: boolean; dryRun?: boolean; prune?: boolean; state?: string };
export type ExportFlags = Chosen & { json?: boolean; output?: string; space?: string; only?: string[] };

/** `diff`. @returns whether anything differs */
export async function compare(flags: Flags, terminal: Terminal): Promise<boolean> {
  const { plan, workspace } = await plannedOf(flags, terminal);
  printPlan(plan, { json: flags.json === true, workspace }, terminal);
  return pending(plan).length > 0;
}

export const printSchema = (terminal: Terminal): void => terminal.print(JSON.stringify(configurationSchema, null, 2));

/** `apply`: the plan, a question, the changes, and what is still different after them. */
export async function apply(flags: Flags, terminal: Terminal): Promise<void> {
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

/** `export`. */
export async function exportAll(flags: ExportFlags, terminal: Terminal): Promise<void> {
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
