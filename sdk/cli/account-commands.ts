import type { Command } from 'commander';
import { revoke } from '../oauth.ts';
import { CliError, EXIT } from './exit.ts';
import { printObject, printRows } from './output.ts';
import { changeProfiles, credentialsFile, readProfiles } from './profiles.ts';
import { type Chosen, openSession } from './session.ts';
import type { Shared } from './shared.ts';

/** whoami, logout and the profiles. */
export function addAccountCommands(program: Command, { terminal }: Shared): void {
  const file = () => credentialsFile(terminal.env);

  program
    .command('whoami')
    .description('Show who you are signed in as, and where.')
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Chosen & { json?: boolean }>();
      const session = openSession(terminal, flags);
      const { data } = await session.sallyport.account.get();
      const profile = session.profile === undefined ? undefined : readProfiles(file()).profiles[session.profile];
      const who = {
        workspace: `${data.name} (${data.slug})`,
        host: session.host,
        profile: session.profile ?? 'none: the credential comes from the environment',
        ...(profile ? { space: profile.space, credential: profile.kind === 'oauth' ? 'browser login' : 'API key' } : {}),
        ...(profile?.kind === 'oauth' ? { scope: profile.scope } : {}),
      };
      if (flags.json) terminal.print(JSON.stringify(who, null, 2));
      else printObject(who, terminal);
    });

  program
    .command('logout')
    .description('End a login: it is revoked at the service and removed from this machine.')
    .option('--all', 'end every login')
    .action(async (flags: { all?: boolean }, command: Command) => {
      const { profile } = command.optsWithGlobals<Chosen>();
      const { profiles, current } = readProfiles(file(), terminal.error);
      const names = flags.all ? Object.keys(profiles) : [profile ?? current];
      for (const name of names) await logout(name);
      if (names.length === 0) terminal.error('Nobody was signed in.');
    });

  async function logout(name: string): Promise<void> {
    // The lock keeps another process from renewing the login between here and the answer: the token would be another one.
    await changeProfiles(file(), async (stored) => {
      const profile = stored.profiles[name];
      if (!profile) throw new CliError(`There is no profile "${name}".`, { code: EXIT.not_signed_in });
      if (profile.kind === 'oauth')
        await revoke(
          { origin: profile.host },
          { token: profile.refresh_token, token_type_hint: 'refresh_token', client_id: profile.client_id },
        );
      delete stored.profiles[name];
      if (stored.current === name) stored.current = Object.keys(stored.profiles)[0] ?? 'default';
      terminal.error(
        profile.kind === 'oauth'
          ? `Signed out of ${profile.tenant}.`
          : `Removed the API key of ${profile.tenant} from this machine. The key itself still works: revoke it in the dashboard if nothing else uses it.`,
      );
    });
  }

  const profilesCommand = program.command('profiles').description('List the logins of this machine and choose the current one.');
  profilesCommand
    .command('list', { isDefault: true })
    .description('List the logins of this machine.')
    .action((_flags, command: Command) => {
      const { profiles, current } = readProfiles(file(), terminal.error);
      const rows = Object.entries(profiles).map(([name, { tenant, space, host, kind }]) => ({
        name,
        current: name === current,
        workspace: tenant,
        space,
        host,
        credential: kind === 'oauth' ? 'browser login' : 'API key',
      }));
      printRows(rows, command.optsWithGlobals<{ json?: boolean }>().json === true, terminal);
    });
  profilesCommand
    .command('use')
    .argument('<name>')
    .description('Make a login the current one.')
    .action(async (name: string) => {
      await changeProfiles(file(), (stored) => {
        if (!stored.profiles[name]) throw new CliError(`There is no profile "${name}".`, { next_step: 'service-cli profiles lists them.' });
        stored.current = name;
      });
      terminal.error(`"${name}" is now the current profile.`);
    });
}
