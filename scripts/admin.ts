// npm run -s admin -- <command> [--flags]   the operator's commands; JSON on stdout, problems on stderr, exit code 1 on refusal.
// They talk to the database, not to the service, so they work while it runs and while it does not.
// --print <field> prints one field of the answer as bare text, for KEY=$(...).
import { parseArgs } from 'node:util';
import { parseEnv } from '../server/platform/env.ts';
import { type Command, CREATES, commands, type Flag, options, perform } from './admin-commands.ts';
import { failInWords, wordsOf } from './command.ts';
import { openDatabase } from './open-database.ts';
import { generateClient, migrate } from './schema.ts';

failInWords();
const { values, positionals } = parsed();
const command = positionals[0] as keyof typeof commands | undefined;
if (!command || !Object.hasOwn(commands, command) || values.help) {
  if (command && !Object.hasOwn(commands, command)) console.error(`Unknown command ${command}. Available commands:\n`);
  console.error(usage());
  process.exit(command && !values.help ? 1 : 0);
}
const wrong = misuse(command, commands[command]);
if (wrong) {
  console.error(`${wrong}. Run npm run -s admin for the list of commands and flags.`);
  process.exit(1);
}

const flags = { ...values, ...(await pipedPassword()) };

// Standard output belongs to the answer, whatever the service's own LOG_LEVEL is; what goes wrong is in the answer or on standard error.
parseEnv(process.env);
process.env.LOG_LEVEL = 'silent';
await generateClient();
const database = await openDatabase({ creates: CREATES.has(command) });
let code = 0;
try {
  await migrate(database.url);
  // Under a key that is not the service's, a command would do harm that nobody sees before the next restart.
  const { checkRootKey } = await import('../server/domain/keys/root-check.ts');
  await checkRootKey();
  const answer = await perform(command, flags);
  print(answer);
  if (command === 'verify-chains' && (answer as { failed: unknown[] }).failed.length > 0) code = 1;
} catch (error) {
  console.error(wordsOf(error) ?? (error instanceof Error ? error.message : String(error)));
  code = 1;
} finally {
  const { closeDb } = await import('../server/platform/db.ts');
  await closeDb();
  await database.release();
}
process.exit(code);

/** A mistyped flag is the operator's mistake, not a crash. */
function parsed() {
  try {
    return parseArgs({ args: process.argv.slice(2), allowPositionals: true, options });
  } catch (error) {
    console.error(`${(error as Error).message.split(/[.\n]/)[0]}. Run npm run -s admin for the list of commands and flags.`);
    process.exit(1);
  }
}

/** What is given and would be ignored, or is missing. */
function misuse(name: string, { needs, takes = [] }: Command): string | undefined {
  if (positionals.length > 1) return `${name} only takes flags, but got ${positionals[1]}`;
  const given = Object.keys(values) as Flag[];
  const idle = given.find((one) => ![...needs, ...takes, 'print', 'help'].includes(one));
  if (idle) return `${name} doesn't take --${idle}`;
  const missing = needs.find((one) => !values[one]);
  if (missing) return `${name} requires --${missing}`;
  if (passwordFlag() !== undefined && passwordOnStdin()) return `use either --${passwordFlag()} or --${passwordFlag()}-stdin, not both`;
}

function passwordFlag() {
  return (['owner-password', 'password'] as const).find((one) => values[one] !== undefined);
}

function passwordOnStdin() {
  return values['owner-password-stdin'] || values['password-stdin'];
}

/** A password among the arguments is in the process list, which everybody on the machine may read, and in the shell's history. */
async function pipedPassword(): Promise<{ 'owner-password'?: string; password?: string }> {
  const flag = passwordFlag();
  if (flag)
    console.error(
      `Warning: other users of this machine can see --${flag} while the command runs. Pipe the password into --${flag}-stdin instead.`,
    );
  if (!passwordOnStdin()) return {};
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  const line = text.replace(/\r?\n$/, '');
  if (line !== '') return { [values['password-stdin'] ? 'password' : 'owner-password']: line };
  console.error('Standard input is empty: pipe the password into the command.');
  process.exit(1);
}

function usage(): string {
  const lines = Object.entries<Command>(commands).map(([name, { needs, takes = [], does }]) => {
    const flags = [...needs.map((one) => `--${one}`), ...(takes.length > 0 ? [`[${takes.map((one) => `--${one}`).join(' ')}]`] : [])].join(
      ' ',
    );
    return `${name.padEnd(18)} ${does}${flags ? `\n${' '.repeat(19)}${flags}` : ''}`;
  });
  return `${lines.join('\n')}\n\nAny command: --print <field> prints one field of the result as plain text.`;
}

/** The whole answer when it lacks the field that was asked for: what was made is shown once, and must not be lost to a slip. */
function print(answer: unknown): void {
  const fields = answer as Record<string, unknown>;
  const field = values.print !== undefined && Object.hasOwn(fields, values.print) ? fields[values.print] : answer;
  console.log(values.print !== undefined && typeof field === 'string' ? field : JSON.stringify(field, null, 1));
  if (values.print !== undefined && field === answer)
    throw new Error(`The result has no field ${values.print}. Available fields: ${Object.keys(fields).join(', ')}.`);
}
