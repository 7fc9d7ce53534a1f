import { createSallyport, type Sallyport } from '../client.ts';
import { apiKey, type Credential, environmentCredential, RENEW_BEFORE_MS } from '../credential.ts';
import { importDpopKey } from '../dpop.ts';
import { SallyportError } from '../error.ts';
import { refreshGrant, type Tokens } from '../oauth.ts';
import { environmentSettings, LOCAL, originOf, spaceOf } from '../settings.ts';
import { CliError, EXIT } from './exit.ts';
import { changeProfiles, credentialsFile, type OAuthLogin, type Profile, readProfiles } from './profiles.ts';
import type { Terminal } from './terminal.ts';

/** Who a command acts as, and where. */
export type Session = {
  /** Name of the profile; undefined when the credential comes from the environment. */
  profile: string | undefined;
  host: string;
  credential: Credential;
  sallyport: Sallyport;
};

export type Chosen = { profile?: string; host?: string };

export const CLI_USER_AGENT = 'service-cli/0.1.0';

/** The profile that was named, else the credential of the environment, else the current profile. @throws CliError when nobody is signed in */
export function openSession(terminal: Terminal, chosen: Chosen): Session {
  const environment = environmentSettings(terminal.env);
  const name = chosen.profile ?? environment.profile;
  const origin = originOf(chosen.host ?? environment.base_url ?? LOCAL[spaceOf(environment.api_key ?? environment.access_token ?? '')]);
  const given = name === undefined ? environmentCredential(environment, { origin }) : undefined;
  if (given) return session(undefined, origin, given);
  const file = credentialsFile(terminal.env);
  const profiles = readProfiles(file, terminal.error);
  const selected = name ?? profiles.current;
  const profile = profiles.profiles[selected];
  if (!profile)
    throw new CliError(name ? `There is no profile "${name}".` : 'Nobody is signed in.', {
      code: EXIT.not_signed_in,
      next_step: `Run: service-cli login${name ? ` --profile ${name}` : ''}`,
    });
  if (chosen.host !== undefined && originOf(chosen.host) !== profile.host)
    // A credential goes to the host that gave it, whatever somebody pastes into a command line.
    throw new CliError(`Profile "${selected}" belongs to ${profile.host}.`, {
      next_step: `Run: service-cli login --host ${chosen.host} --profile NAME`,
    });
  return session(selected, profile.host, profile.kind === 'api_key' ? apiKey(profile.api_key) : storedLogin(file, selected, profile));
}

/** For operations that need no credential, such as signing up. */
export function openAnonymous(terminal: Terminal, { host }: Chosen): Pick<Session, 'sallyport'> {
  const base_url = host ?? environmentSettings(terminal.env).base_url ?? LOCAL.live;
  return { sallyport: createSallyport({ base_url, credential: null, user_agent: CLI_USER_AGENT }) };
}

function session(profile: string | undefined, host: string, credential: Credential): Session {
  return { profile, host, credential, sallyport: createSallyport({ base_url: host, credential, user_agent: CLI_USER_AGENT }) };
}

/** Tokens of a login in the credentials file. They are renewed by one process at a time; the others take what it wrote. */
export function storedLogin(file: string, name: string, first: OAuthLogin): Credential {
  let login = first;
  const current = async () => ({
    text: login.access_token,
    key: login.dpop_key ? await importDpopKey(login.dpop_key) : undefined,
  });
  const isUsable = (one: OAuthLogin, refused: string | undefined) =>
    one.access_token !== refused && Date.parse(one.expires_at) - Date.now() > RENEW_BEFORE_MS;
  const renew = (refused: string | undefined) =>
    changeProfiles(file, async ({ profiles }) => {
      const stored = profiles[name];
      if (stored?.kind !== 'oauth') throw signedOut(name);
      if (!isUsable(stored, refused)) Object.assign(stored, await renewed(name, stored));
      login = stored;
    });
  let pending: Promise<void> | undefined;
  return {
    token: async (refused) => {
      if (!isUsable(login, refused)) {
        pending ??= renew(refused).finally(() => {
          pending = undefined;
        });
        await pending;
      }
      return current();
    },
  };
}

async function renewed(name: string, profile: Profile & OAuthLogin): Promise<Partial<OAuthLogin>> {
  const { refresh_token, client_id, dpop_key } = profile;
  try {
    const key = dpop_key ? { key: await importDpopKey(dpop_key) } : {};
    return loginOf(await refreshGrant({ origin: profile.host }, { refresh_token, client_id, ...key }));
  } catch (error) {
    if (error instanceof SallyportError && error.type === 'invalid_grant') throw signedOut(name);
    throw error;
  }
}

/** What the credentials file keeps of an answer of the token endpoint. */
export function loginOf(tokens: Tokens): Omit<OAuthLogin, 'kind' | 'dpop_key'> {
  if (!tokens.refresh_token) throw new CliError('The service gave no refresh token.', { code: EXIT.refused });
  return {
    client_id: tokens.client_id,
    access_token: tokens.access_token,
    expires_at: new Date(Date.now() + tokens.expires_in * 1000).toISOString(),
    refresh_token: tokens.refresh_token,
    scope: tokens.scope,
  };
}

const signedOut = (name: string) =>
  new CliError(`The login of profile "${name}" has ended.`, {
    code: EXIT.not_signed_in,
    next_step: `Run: service-cli login --profile ${name}`,
  });
