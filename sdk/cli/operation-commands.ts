import { type Command, InvalidArgumentError, Option } from 'commander';
import { jsonText } from '#server/kernel/json-text.ts';
import { isNumber, parseExact } from '#server/kernel/lossless-json.ts';
import type { Field, Operation } from '../operation.ts';
import { paginate, paginateFeed } from '../paginate.ts';
import { CliError } from './exit.ts';
import { type Flags, flagOf, inputOf, RESERVED_FLAGS } from './operation-input.ts';
import { printAnswer, printRows, printWarnings, warningsOf } from './output.ts';
import { type Chosen, openAnonymous, openSession } from './session.ts';
import type { Shared } from './shared.ts';

/** `<family> <verb>` for every operation of the table; `collections.variables.list` becomes `collections variables list`. */
export function addOperationCommands(program: Command, shared: Shared): void {
  program.commandsGroup('Manage the workspace:');
  for (const { name, description } of shared.table.families) {
    const own = shared.table.operations.filter(({ id }) => id.startsWith(`${name}.`));
    const existing = program.commands.find((command) => command.name() === flagOf(name));
    const family =
      existing ??
      program
        .command(flagOf(name))
        .summary(description.split('. ')[0]?.replace(/\.$/, '') ?? '')
        .description(description);
    for (const operation of own) addOperation(family, operation, operation.id.split('.').slice(1), shared);
  }
}

function addOperation(parent: Command, operation: Operation, words: readonly string[], shared: Shared): void {
  const [word = '', ...rest] = words;
  if (rest.length > 0) {
    const name = flagOf(word);
    const group =
      parent.commands.find((command) => command.name() === name) ??
      parent.command(name).description(`Manage ${word.replaceAll('_', ' ')}.`);
    addOperation(group, operation, rest, shared);
    return;
  }
  const command = parent
    .command(flagOf(word))
    .summary(operation.summary)
    .description(operation.description || operation.summary);
  for (const param of operation.params.filter((one) => one.in === 'path')) command.argument(`<${flagOf(param.name)}>`, param.description);
  for (const field of [...operation.params.filter((one) => one.in !== 'path'), ...(operation.body?.fields ?? [])]) addField(command, field);
  if (operation.body) command.option('--data <json>', 'the body as JSON, @file or - for standard input; flags override its members');
  if (operation.paging) command.option('--all', 'follow pages to the end');
  if (operation.destructive) command.option('-y, --yes', 'don’t ask for confirmation');
  command.action(async (...given: unknown[]) => {
    const flags = command.optsWithGlobals<Flags & Chosen>();
    await perform(operation, given.slice(0, -2) as string[], flags, shared);
  });
}

/** Scalars and lists of texts as flags, structures as JSON. A secret isn't one: a command line is seen by other processes and kept in the shell's history. */
function addField(command: Command, field: Field): void {
  const flag = `--${RESERVED_FLAGS.has(flagOf(field.name)) ? 'field-' : ''}${flagOf(field.name)}`;
  const text = field.required ? `${field.description} Required.` : field.description;
  if (field.secret) {
    command.option(`${flag}-stdin`, `Read it from standard input. ${text}`);
    command.option(`${flag}-from-env <name>`, 'Read it from this environment variable.');
  } else if (field.type === 'boolean') {
    command.option(flag, text);
    command.addOption(new Option(`--no-${flag.slice(2)}`).hideHelp());
  } else if (field.type === 'list') {
    command.option(`${flag} <text>`, `${text} Repeat for several.`, (one: string, all: string[] | undefined) => [...(all ?? []), one]);
  } else {
    const option = new Option(`${flag} <${field.type === 'string' ? 'text' : field.type}>`, text);
    if (field.values) option.choices([...field.values, ...(field.nullable ? ['null'] : [])]);
    else option.argParser((given) => parsedValue(field, given));
    command.addOption(option);
  }
}

function parsedValue(field: Field, text: string): unknown {
  if (field.nullable && text === 'null') return null;
  if (field.type === 'string') return text;
  try {
    const value = parseExact(text);
    if (field.type === 'json') return jsonText(text);
    if (isNumber(value) && (field.type === 'number' || Number.isInteger(Number(value)))) return value;
  } catch {
    // refused below
  }
  throw new InvalidArgumentError(
    field.type === 'json' ? 'It must be JSON.' : `It must be ${field.type === 'integer' ? 'an integer' : 'a number'}.`,
  );
}

async function perform(operation: Operation, args: readonly string[], flags: Flags & Chosen, { terminal }: Shared): Promise<void> {
  const { sallyport } = operation.anonymous ? openAnonymous(terminal, flags) : openSession(terminal, flags);
  const call = await inputOf(operation, args, flags, terminal);
  if (operation.destructive && flags.yes !== true) {
    const target = args.length > 0 ? ` ${args.join(' ')}` : '';
    if (!terminal.canAsk) throw new CliError(`${operation.summary}${target} needs --yes where nobody can be asked.`);
    const reply = await terminal.ask(`${operation.summary}:${target}. Continue? [y/N] `);
    if (!/^y(?:es)?$/i.test(reply.trim())) throw new CliError('Nothing was changed.');
  }
  const send = (query: Record<string, unknown>) =>
    sallyport.request<never[]>(operation.method, operation.path, { ...call, query: { ...call.query, ...query }, signal: terminal.signal });
  if (operation.paging && flags.all === true) {
    const rows: unknown[] = [];
    // Each once: pages of one list say the same.
    const warnings = new Set<string>();
    const page = async (query: Record<string, unknown>) => {
      const answer = await send(query);
      for (const one of warningsOf(answer)) warnings.add(one);
      return answer;
    };
    const all = operation.paging === 'pages' ? paginate((query) => page(query) as never) : paginateFeed((query) => page(query) as never);
    for await (const row of all) rows.push(row);
    printWarnings(warnings, terminal);
    printRows(rows, flags.json === true, terminal);
  } else printAnswer(await send({}), flags.json === true, terminal);
}
