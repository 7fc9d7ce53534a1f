import type { Command } from 'commander';
import { createSallyport } from '../client.ts';
import { createDpopKey, type DpopKey } from '../dpop.ts';
import { exchange } from '../exchange.ts';
import { authorizationCodeGrant, authorizeDevice, deviceGrant, pkce, revoke, type Tokens } from '../oauth.ts';
import { environmentSettings, LOCAL, originOf, spaceOf } from '../settings.ts';
import { openBrowser } from './browser.ts';
import { CliError, EXIT } from './exit.ts';
import { awaitCode } from './loopback.ts';
import { withoutLineEnd } from './operation-input.ts';
import { changeProfiles, credentialsFile, PROFILE_NAME, type Profile, readProfiles } from './profiles.ts';
import { type Chosen, CLI_USER_AGENT, loginOf } from './session.ts';
import type { Shared } from './shared.ts';
import type { Terminal } from './terminal.ts';

type LoginFlags = Chosen & {
  device?: boolean;
  apiKey?: boolean;
  test?: boolean;
  tenant?: string;
  scope?: string;
  confirm?: boolean;
  browser?: boolean;
};

/** Asks for a login that its person confirms (RFC 9470). */
const CONFIRMED = 'step_up';

/** The name that every workspace knows this program by before its first login there. */
const CLIENT = 'service-cli';

export function addLoginCommand(program: Command, { terminal }: Shared): void {
  program
    .command('login')
    .description('Sign in with your browser. The login is kept in a file that only you can read.')
    .option('--device', 'approve on another device, by a code')
    .option('--api-key', 'use an API key, read from standard input or a prompt')
    .option('--test', 'sign in to the Test space of an installation on this machine')
    .option('--tenant <slug>', 'workspace to suggest')
    .option('--scope <scopes>', 'rights to ask for, separated by spaces (default: all that you have)')
    .option('--confirm', 'sign in again and confirm with your second factor: for 8 hours the login can do what takes one')
    .option('--no-browser', 'print the address instead of opening it')
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<LoginFlags>();
      if (flags.apiKey && flags.confirm) throw new CliError('--confirm is for the login of a person. An API key has no second factor.');
      if (flags.profile !== undefined && !PROFILE_NAME.test(flags.profile))
        throw new CliError('A profile name has up to 64 letters, digits, ".", "_" and "-", and starts with a letter or digit.');
      const earlier = earlierLogin(flags, terminal);
      const profile = flags.apiKey ? await byApiKey(flags, terminal, earlier) : await byPerson(flags, terminal, earlier);
      await keep(profile, flags.profile ?? nameAgain(profile, earlier), terminal);
    });
}

type Earlier = { name: string; profile: Profile };

/** The profile that commands use: a login without an address goes where it does, so that the command that a refusal names works as it is. */
function earlierLogin(flags: LoginFlags, terminal: Terminal): Earlier | undefined {
  if (flags.host !== undefined || flags.test) return undefined;
  const { profiles, current } = readProfiles(credentialsFile(terminal.env), terminal.error);
  const name = flags.profile ?? environmentSettings(terminal.env).profile ?? current;
  const profile = profiles[name];
  return profile && { name, profile };
}

/** The same workspace keeps its name; another one that the person chose, or another kind of credential, doesn't replace it. */
const nameAgain = (profile: Profile, earlier: Earlier | undefined): string | undefined =>
  earlier && (['tenant', 'space', 'kind', 'host'] as const).every((member) => profile[member] === earlier.profile[member])
    ? earlier.name
    : undefined;

async function byApiKey(flags: LoginFlags, terminal: Terminal, earlier: Earlier | undefined): Promise<Profile> {
  const api_key = (terminal.canAsk ? await terminal.askSecret('API key: ') : withoutLineEnd(await terminal.readInput())).trim();
  if (!/^(?:tk_|AKE)[\x21-\x7e]+$/.test(api_key)) throw new CliError('This is not an API key. It starts with tk_live_, tk_test_ or AKE.');
  const host = hostOf(flags, terminal, spaceOf(api_key), earlier);
  const { data } = await createSallyport({ base_url: host, credential: api_key, user_agent: CLI_USER_AGENT }).account.get();
  return { host, space: spaceOf(api_key), tenant: data.slug, kind: 'api_key', api_key };
}

/** Asks for the service before a browser is opened at an address from which nobody would come back. Any answer will do. @throws ConnectionError */
const reach = (host: string, signal: AbortSignal) =>
  exchange(
    fetch,
    { method: 'GET', url: new URL('/.well-known/oauth-authorization-server', host).href, headers: new Headers() },
    REACH_MS,
    signal,
  );

const REACH_MS = 10_000;

async function byPerson(given: LoginFlags, terminal: Terminal, earlier: Earlier | undefined): Promise<Profile> {
  const host = hostOf(given, terminal, given.test ? 'test' : (earlier?.profile.space ?? 'live'), earlier);
  const flags = { ...given, tenant: given.tenant ?? earlier?.profile.tenant };
  // Bound to a key of this machine, a copied token is of no use by itself.
  const key = await createDpopKey();
  const tokens = flags.device ? await byDevice(host, flags, key, terminal) : await byBrowser(host, flags, key, terminal);
  const bound = tokens.token_type === 'DPoP' ? { dpop_key: await key.export() } : {};
  return { host, space: spaceOf(tokens.access_token), tenant: tokens.tenant, kind: 'oauth', ...loginOf(tokens), ...bound };
}

async function byBrowser(host: string, flags: LoginFlags, key: DpopKey, terminal: Terminal): Promise<Tokens> {
  await reach(host, terminal.signal);
  const { code_verifier, code_challenge } = pkce();
  const waiting = await awaitCode(host, terminal.signal);
  try {
    const url = new URL('/oauth/authorize', host);
    const ask = {
      response_type: 'code',
      client_id: CLIENT,
      redirect_uri: waiting.redirect_uri,
      code_challenge,
      code_challenge_method: 'S256',
      state: waiting.state,
      dpop_jkt: key.jkt,
      tenant: flags.tenant ?? environmentSettings(terminal.env).tenant,
      scope: flags.scope,
      acr_values: flags.confirm ? CONFIRMED : undefined,
    };
    for (const [name, value] of Object.entries(ask)) if (value !== undefined) url.searchParams.set(name, value);
    const opened = flags.browser !== false && terminal.canAsk && openBrowser(url.href);
    terminal.error(
      opened ? `Continue in your browser. If it didn’t open, go to:\n${url.href}` : `Open this address to sign in:\n${url.href}`,
    );
    const code = await waiting.code;
    return await authorizationCodeGrant(
      { origin: host },
      { code, code_verifier, redirect_uri: waiting.redirect_uri, client_id: CLIENT, key },
    );
  } finally {
    waiting.close();
  }
}

async function byDevice(host: string, flags: LoginFlags, key: DpopKey, terminal: Terminal): Promise<Tokens> {
  const wanted = { ...(flags.scope ? { scope: flags.scope } : {}), ...(flags.confirm ? { acr_values: CONFIRMED } : {}) };
  const device = await authorizeDevice({ origin: host }, { client_id: CLIENT, ...wanted });
  const minutes = Math.round(device.expires_in / 60);
  terminal.error(
    `Open ${device.verification_uri} on any device and enter this code within ${minutes} minutes:\n\n  ${terminal.style.bold(device.user_code)}\n`,
  );
  return deviceGrant({ origin: host }, device, { client_id: CLIENT, key }, terminal.signal);
}

/** Writes the login down as the current profile. One that it replaces is ended at the service. */
async function keep(profile: Profile, name: string | undefined, terminal: Terminal): Promise<void> {
  const chosen = name ?? (profile.space === 'test' ? `${profile.tenant}-test` : profile.tenant);
  const replaced = await changeProfiles(credentialsFile(terminal.env), (stored) => {
    const before = stored.profiles[chosen];
    stored.profiles[chosen] = profile;
    stored.current = chosen;
    return before;
  });
  terminal.error(
    `${terminal.style.green('Signed in')} to ${profile.tenant} (${profile.space === 'test' ? 'Test' : 'Live'}) as profile "${chosen}".`,
  );
  if (replaced?.kind !== 'oauth') return;
  const { refresh_token, client_id, host } = replaced;
  await revoke({ origin: host }, { token: refresh_token, token_type_hint: 'refresh_token', client_id }).catch(() =>
    terminal.error('The login it replaces could not be ended. It ends by itself after 30 days, or under Connected apps in the dashboard.'),
  );
}

/** Says which address it is where nobody named one. */
function hostOf(flags: LoginFlags, terminal: Terminal, space: 'live' | 'test', earlier: Earlier | undefined): string {
  if (flags.host !== undefined && flags.test)
    throw new CliError('--test is for an installation on this machine. With --host, name the host of the Test API.', { code: EXIT.usage });
  if (earlier?.profile.space === space) {
    terminal.error(
      terminal.style.dim(`Signing in to ${earlier.profile.host}, as profile "${earlier.name}" does. --host names another address.`),
    );
    return earlier.profile.host;
  }
  return originOf(flags.host ?? (flags.test ? LOCAL.test : (environmentSettings(terminal.env).base_url ?? LOCAL[space])));
}
