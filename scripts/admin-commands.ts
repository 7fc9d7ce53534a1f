// What the operator's commands are and what each does. `admin.ts` reads them from a command line.

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
export const options = {
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
  domain: text,
  password: text,
  'password-stdin': flag,
  version: text,
  os: text,
  arch: text,
  sha256: text,
  mfa: flag,
  'i-understand': flag,
  print: text,
  help: flag,
} as const;
export type Flag = keyof typeof options;
/** `needs` must be given, `takes` may be; any other flag is refused, since it would be ignored. */
export type Command = { needs: readonly Flag[]; takes?: readonly Flag[]; does: string };
export const commands = {
  'create-tenant': {
    needs: ['slug'],
    takes: ['name', 'region', 'plan', 'status', 'owner-email', 'owner-password-stdin', 'owner-password', 'no-starter'],
    does: 'creates a workspace, or updates its plan, status and owner',
  },
  'set-member': {
    needs: ['slug', 'email', 'role'],
    takes: ['name', 'password-stdin', 'password'],
    does: 'gives a person a role (owner, admin, editor, viewer, member), or removes them (none)',
  },
  'set-plan': { needs: ['slug'], takes: ['plan', 'status', 'deliberate'], does: 'changes the plan or status of a workspace' },
  'set-limit': {
    needs: ['slug', 'kind', 'value'],
    takes: ['reason'],
    does: 'overrides one plan limit; --value is a number, unlimited or plan',
  },
  'create-key': {
    needs: ['slug', 'space'],
    takes: ['role', 'name'],
    does: 'creates an API key and prints it once; --space is live or test',
  },
  'create-session': { needs: ['email'], takes: ['mfa', 'i-understand'], does: 'prints a dashboard session token' },
  'reset-factors': {
    needs: ['email'],
    does: 'removes the second factors of a person who lost them, and ends their sessions',
  },
  'verify-domain': { needs: ['slug', 'domain'], does: 'marks a domain as verified without looking for its DNS record' },
  'clear-allowlist': { needs: ['slug'], does: 'lets the dashboard of a workspace be used from any address again' },
  suspend: { needs: ['slug'], does: 'pauses a workspace until it is resumed' },
  resume: { needs: ['slug'], does: 'ends a suspension' },
  'list-tenants': { needs: [], does: 'lists workspaces with plan, status and counts' },
  'rotate-tenant-key': { needs: ['slug'], does: 'rotates the master key of a workspace; its data is re-wrapped in the background' },
  'rotate-root-key': { needs: [], does: 'moves all tenant keys from MASTER_KEY_PREVIOUS_B64 to the current root key' },
  'know-agent-build': {
    needs: ['version', 'sha256'],
    takes: ['os', 'arch'],
    does: 'adds a build of the on-host agent to the known ones and prints its seal; without --os and --arch it runs on any',
  },
  'verify-chains': { needs: [], does: 'verifies the critical audit chain of every workspace; exits with 1 if one fails' },
  'accept-chain': {
    needs: ['slug', 'reason'],
    does: 'accepts a critical audit chain that failed verification as it is now, and records so in it; --slug operator for the chain of no workspace',
  },
} as const satisfies Record<string, Command>;

/** Commands that may be the first thing done with an installation; any other one would only work on a new, empty one by mistake. */
export const CREATES: ReadonlySet<keyof typeof commands> = new Set(['create-tenant']);

export type Given = { readonly [F in Flag]?: (typeof options)[F]['type'] extends 'boolean' ? boolean : string };

/** Runs a command whose flags were judged. Rejects with a Refusal, or with an Error in words for the operator. */
export async function perform(command: keyof typeof commands, flags: Given): Promise<unknown> {
  const operator = await import('../server/domain/operator/service.ts');
  /** Of a flag without which no command is let run. */
  const need = (name: TextFlag) => flags[name] ?? '';
  const given = <const K extends TextFlag>(...names: K[]) =>
    Object.fromEntries(names.flatMap((n) => (flags[n] === undefined ? [] : [[n, flags[n]]]))) as { [P in K]?: string };
  switch (command) {
    case 'create-tenant':
      return operator.provisionTenant({
        slug: need('slug'),
        starter: !flags['no-starter'],
        ...given('name', 'region', 'plan', 'status'),
        ...(flags['owner-email'] ? { owner_email: flags['owner-email'] } : {}),
        ...(flags['owner-password'] === undefined ? {} : { owner_password: flags['owner-password'] }),
      });
    case 'set-member': {
      const { families } = await import('../server/domain/families.ts');
      const input = { slug: need('slug'), email: need('email'), role: need('role'), ...given('name', 'password') };
      return operator.setMember(input, families);
    }
    case 'set-plan':
      return operator.setPlan({ slug: need('slug'), ...given('plan', 'status'), deliberate: flags.deliberate ?? false });
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
      return operator.openSession({ email: need('email'), mfa: flags.mfa ?? false, i_understand: flags['i-understand'] ?? false });
    case 'reset-factors':
      return operator.resetFactors({ email: need('email') });
    case 'verify-domain':
      return operator.verifyDomain({ slug: need('slug'), domain: need('domain') });
    case 'clear-allowlist':
      return operator.clearAllowlist({ slug: need('slug') });
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
    case 'know-agent-build':
      return operator.knowAgentBuild({ version: need('version'), sha256: need('sha256'), ...given('os', 'arch') });
    case 'verify-chains':
      return operator.verifyChains();
    case 'accept-chain':
      return operator.acceptChainOf({ slug: need('slug'), reason: need('reason') });
  }
}

type TextFlag =
  | 'slug'
  | 'name'
  | 'region'
  | 'plan'
  | 'status'
  | 'kind'
  | 'value'
  | 'reason'
  | 'space'
  | 'role'
  | 'email'
  | 'domain'
  | 'password'
  | 'version'
  | 'os'
  | 'arch'
  | 'sha256';
