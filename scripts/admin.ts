// npm run -s admin -- <command> [--flags]   the operator's commands; JSON on stdout, problems on stderr, exit code 1 on refusal.
// They talk to the database, not to the service, so they work while it runs and while it does not.
// --print <field> prints one field of the answer as bare text, for KEY=$(...).
import { parseArgs } from 'node:util';
import { openDatabase } from './open-database.ts';
import { generateClient, migrate } from './schema.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const options = {
  slug: text,
  name: text,
  region: text,
  plan: text,
  status: text,
  'owner-email': text,
  'owner-password': text,
  'owner-password-stdin': flag,
  'no-starter': flag,
  deliberate: flag,
  kind: text,
  value: text,
  reason: text,
  space: text,
  role: text,
  email: text,
  password: text,
  'password-stdin': flag,
  mfa: flag,
  'i-understand': flag,
  print: text,
  help: flag,
} as const;
type Flag = keyof typeof options;
/** `needs` must be given, `takes` may be; any other flag is refused, since it would be ignored. */
type Command = { needs: readonly Flag[]; takes?: readonly Flag[]; does: string };
const commands = {
  'create-tenant': {
    needs: ['slug'],
    takes: ['name', 'region', 'plan', 'status', 'owner-email', 'owner-password-stdin', 'owner-password', 'no-starter'],
    does: 'makes a workspace, or brings it to this plan, status and owner',
  },
  'set-member': {
    needs: ['slug', 'email', 'role'],
    takes: ['name', 'password-stdin', 'password'],
    does: 'gives a person a role (owner, admin, editor, viewer, member), or takes it away (none)',
  },
  'set-plan': { needs: ['slug'], takes: ['plan', 'status', 'deliberate'], does: 'moves a workspace to a plan or status' },
  'set-limit': {
    needs: ['slug', 'kind', 'value'],
    takes: ['reason'],
    does: 'overrides one plan limit; --value is a number, unlimited or plan',
  },
  'create-key': { needs: ['slug', 'space'], takes: ['role', 'name'], does: 'prints a new API key once; --space is live or test' },
  'create-session': { needs: ['email'], takes: ['mfa', 'i-understand'], does: 'prints a dashboard session token' },
  suspend: { needs: ['slug'], does: 'pauses a workspace until resume' },
  resume: { needs: ['slug'], does: 'ends a suspension' },
  'list-tenants': { needs: [], does: 'every workspace with plan, status and counts' },
  'rotate-tenant-key': { needs: ['slug'], does: 'gives a workspace a new master key; its data is re-wrapped in the background' },
  'rotate-root-key': { needs: [], does: 'moves every tenant key from MASTER_KEY_PREVIOUS_B64 to the current root key' },
  'verify-chains': { needs: [], does: 'checks the critical audit chain of every workspace; exit code 1 when one does not hold' },
} as const satisfies Record<string, Command>;

const { values, positionals } = parsed();
const command = positionals[0] as keyof typeof commands | undefined;
if (!command || !Object.hasOwn(commands, command) || values.help) {
  if (command && !Object.hasOwn(commands, command)) console.error(`There is no command ${command}. The commands are:\n`);
  console.error(usage());
  process.exit(command && !values.help ? 1 : 0);
}
const wrong = misuse(command, commands[command]);
if (wrong) {
  console.error(`${wrong}. Run npm run -s admin for the commands and their flags.`);
  process.exit(1);
}

const password = await givenPassword();

// Standard output belongs to the answer, whatever the service's own LOG_LEVEL is; what goes wrong is in the answer or on standard error.
process.env.LOG_LEVEL = 'silent';
await generateClient();
const database = await openDatabase();
let code = 0;
try {
  await migrate(database.url);
  if (['create-tenant', 'rotate-tenant-key', 'rotate-root-key'].includes(command)) {
    // These wrap keys: under a key that is not the service's they would do harm that nobody sees before the next restart.
    const { checkRootKey } = await import('../server/domain/keys/root-check.ts');
    await checkRootKey();
  }
  const answer = await run(command);
  print(answer);
  if (command === 'verify-chains' && (answer as { failed: unknown[] }).failed.length > 0) code = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  code = 1;
} finally {
  const { closeDb } = await import('../server/platform/db.ts');
  await closeDb();
  await database.release();
}
process.exit(code);

async function run(name: keyof typeof commands): Promise<unknown> {
  const operator = await import('../server/domain/operator/service.ts');
  switch (name) {
    case 'create-tenant':
      return operator.provisionTenant({
        slug: need('slug'),
        starter: !values['no-starter'],
        ...given('name', 'region', 'plan', 'status'),
        ...(values['owner-email'] ? { owner_email: values['owner-email'] } : {}),
        ...(password === undefined ? {} : { owner_password: password }),
      });
    case 'set-member':
      return operator.setMember({
        slug: need('slug'),
        email: need('email'),
        role: need('role'),
        ...given('name'),
        ...(password === undefined ? {} : { password }),
      });
    case 'set-plan':
      return operator.setPlan({ slug: need('slug'), ...given('plan', 'status'), deliberate: values.deliberate ?? false });
    case 'set-limit': {
      const value = need('value');
      const number = value === 'unlimited' || value === 'plan' ? null : Number(value);
      if (number !== null && !(Number.isInteger(number) && number >= 0))
        throw new Error('--value must be a whole number, unlimited or plan');
      return operator.setLimit({ slug: need('slug'), kind: need('kind'), value: number, remove: value === 'plan', ...given('reason') });
    }
    case 'create-key':
      return operator.createKey({ slug: need('slug'), space: need('space'), ...given('role', 'name') });
    case 'create-session':
      return operator.openSession({ email: need('email'), mfa: values.mfa ?? false, i_understand: values['i-understand'] ?? false });
    case 'suspend':
      return operator.suspend({ slug: need('slug') });
    case 'resume':
      return operator.resume({ slug: need('slug') });
    case 'list-tenants':
      return operator.listTenants();
    case 'rotate-tenant-key':
      return operator.rotateKeyOf({ slug: need('slug') });
    case 'rotate-root-key':
      return operator.rotateRoot();
    case 'verify-chains':
      return operator.verifyChains();
  }
}

/** A mistyped flag is the operator's mistake, not a crash. */
function parsed() {
  try {
    return parseArgs({ args: process.argv.slice(2), allowPositionals: true, options });
  } catch (error) {
    console.error(`${(error as Error).message.split(/[.\n]/)[0]}. Run npm run -s admin for the commands and their flags.`);
    process.exit(1);
  }
}

/** What is given and would be ignored, or is missing. */
function misuse(name: string, { needs, takes = [] }: Command): string | undefined {
  if (positionals.length > 1) return `${name} takes flags only, and ${positionals[1]} is none`;
  const given = Object.keys(values) as Flag[];
  const idle = given.find((one) => ![...needs, ...takes, 'print', 'help'].includes(one));
  if (idle) return `${name} takes no --${idle}`;
  const missing = needs.find((one) => !values[one]);
  if (missing) return `${name} needs --${missing}`;
  if (passwordFlag() !== undefined && passwordOnStdin()) return `--${passwordFlag()} and --${passwordFlag()}-stdin are two passwords`;
}

function passwordFlag() {
  return (['owner-password', 'password'] as const).find((one) => values[one] !== undefined);
}

function passwordOnStdin() {
  return values['owner-password-stdin'] || values['password-stdin'];
}

/** A password among the arguments is in the process list, which everybody on the machine may read, and in the shell's history. */
async function givenPassword(): Promise<string | undefined> {
  const flag = passwordFlag();
  if (flag) console.error(`Other users of this machine can see --${flag} while the command runs: pipe it into --${flag}-stdin instead.`);
  if (!passwordOnStdin()) return flag && values[flag];
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  const line = text.replace(/\r?\n$/, '');
  if (line !== '') return line;
  console.error('There is no password on standard input.');
  process.exit(1);
}

function usage(): string {
  const lines = Object.entries<Command>(commands).map(([name, { needs, takes = [], does }]) => {
    const flags = [...needs.map((one) => `--${one}`), ...(takes.length > 0 ? [`[${takes.map((one) => `--${one}`).join(' ')}]`] : [])].join(
      ' ',
    );
    return `${name.padEnd(18)} ${does}${flags ? `\n${' '.repeat(19)}${flags}` : ''}`;
  });
  return `${lines.join('\n')}\n\nAny command: --print <field> prints one field of the answer as bare text.`;
}

/** The whole answer when it lacks the field that was asked for: what was made is shown once, and must not be lost to a slip. */
function print(answer: unknown): void {
  const fields = answer as Record<string, unknown>;
  const field = values.print !== undefined && Object.hasOwn(fields, values.print) ? fields[values.print] : answer;
  console.log(values.print !== undefined && typeof field === 'string' ? field : JSON.stringify(field, null, 1));
  if (values.print !== undefined && field === answer)
    throw new Error(`The answer has no field ${values.print}; it has ${Object.keys(fields).join(', ')}.`);
}

type TextFlag = 'slug' | 'name' | 'region' | 'plan' | 'status' | 'kind' | 'value' | 'reason' | 'space' | 'role' | 'email';

/** Of a flag without which `misuse` lets no command run. */
function need(name: TextFlag): string {
  return values[name] ?? '';
}

function given<const K extends TextFlag>(...names: K[]): { [P in K]?: string } {
  return Object.fromEntries(names.flatMap((n) => (values[n] === undefined ? [] : [[n, values[n]]]))) as { [P in K]?: string };
}
