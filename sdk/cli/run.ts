import { spawn } from 'node:child_process';
import os from 'node:os';
import type { Command } from 'commander';
import type { Sallyport } from '../client.ts';
import { paginate } from '../paginate.ts';
import { CREDENTIAL_VARIABLES } from '../settings.ts';
import { gatewayOf } from './call.ts';
import { CliError, EXIT } from './exit.ts';
import { startLocalGateway } from './local-gateway.ts';
import { type Chosen, openSession } from './session.ts';
import type { Shared } from './shared.ts';
import type { Terminal } from './terminal.ts';

type RunFlags = Chosen & { environment?: string; route?: string[]; secret?: string[]; collection?: string };

/**
 * Runs a program beside a gateway of its own on this machine. The program gets no credential and no secret: the addresses of routes that add them, and
 * placeholders that the gateway replaces in the bodies it sends. No API gives the value of a stored secret (interface rule 30 §1).
 */
export function addRunCommand(program: Command, { terminal, end }: Shared): void {
  const several = (one: string, all?: string[]) => [...(all ?? []), one];
  program
    .command('run')
    .description('Run a program that calls your routes without holding a credential.')
    .argument('<command...>', 'the program, after --')
    .option('-e, --environment <name>', 'environment that answers its calls')
    .option('-r, --route <[VAR=]route>', 'set VAR to the local address of a route (default: SLUG_URL). Repeat for several.', several)
    .option('-s, --secret <[VAR=]name>', 'set VAR to the placeholder of a secret (default: its name). Repeat for several.', several)
    .option('-c, --collection <collection>', 'set a variable for each variable of a collection')
    .addHelpText('after', HELP)
    .action(async (words: string[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<RunFlags>();
      const session = openSession(terminal, flags);
      const { call } = await gatewayOf(session);
      const local = await startLocalGateway(call, flags.environment);
      try {
        const variables = {
          SERVICE_GATEWAY_URL: local.url,
          ...(flags.environment ? { SERVICE_ENVIRONMENT: flags.environment } : {}),
          ...(await collectionVariables(session.sallyport, flags.collection)),
          ...(await secretVariables(session.sallyport, flags.secret ?? [], flags.environment)),
          ...(await routeVariables(session.sallyport, flags.route ?? [], local.url)),
        };
        end(await runProgram(words, variables, terminal));
      } finally {
        local.close();
      }
    });
}

const HELP = `
The program calls $SERVICE_GATEWAY_URL/{route}/{path}, or the address in the variable of a route. The gateway adds the
route's credentials. A secret's variable holds {{secret:NAME}}, never the value: the gateway replaces it in JSON and form bodies.

Examples:
  service-cli run --route orders -- npm start              # ORDERS_URL
  service-cli run --route API=orders --secret PARTNER_KEY -- node job.js`;

const named = (text: string, defaultName: (value: string) => string): [string, string] => {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.+)$/.exec(text) ?? [];
  return name && value ? [name, value] : [defaultName(text), text];
};
const variable = (text: string) => text.toUpperCase().replace(/[^A-Z0-9]+/g, '_');

async function routeVariables(sallyport: Sallyport, routes: readonly string[], url: string): Promise<Record<string, string>> {
  const entries = await Promise.all(
    routes.map(async (text) => {
      const [name, reference] = named(text, (route) => `${variable(route)}_URL`);
      const { slug, id } = (await sallyport.routes.get({ path: { id: reference } })).data;
      return [name, `${url}/${encodeURIComponent(slug ?? id)}`];
    }),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

async function secretVariables(
  sallyport: Sallyport,
  secrets: readonly string[],
  environment: string | undefined,
): Promise<Record<string, string>> {
  const entries = await Promise.all(
    secrets.map(async (text) => {
      const [variableName, name] = named(text, variable);
      const { data } = await sallyport.secrets.list({ query: { q: name, per_page: 100 } });
      const secret = data.find(({ shortcode_name }) => shortcode_name === name);
      if (!secret)
        throw new CliError(`There is no secret named ${name}.`, {
          code: EXIT.not_found,
          next_step: `Create it: service-cli secrets create --name ${name}`,
        });
      const { environments } = (await sallyport.secrets.get({ path: { id: secret.id } })).data;
      if (environment && !environments.some(({ environment_name }) => environment_name === environment))
        throw new CliError(`${name} has no value for ${environment}.`, {
          code: EXIT.not_found,
          next_step: `Set it: service-cli secrets put-value ${secret.id} --environment ${environment}`,
        });
      return [variableName, `{{secret:${name}}}`];
    }),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

async function collectionVariables(sallyport: Sallyport, collection: string | undefined): Promise<Record<string, string>> {
  if (collection === undefined) return {};
  const all = sallyport.collections;
  const set: Record<string, string> = {};
  for await (const { key, type, value, secret_id } of paginate((query) => all.variables.list({ path: { id: collection }, query } as never)))
    set[variable(key)] = type === 'secret' ? `{{secret_id:${secret_id}}}` : (value ?? '');
  return set;
}

/** Ends as the program ends; a signal's number is added to 128, as shells do. The credentials of this terminal are not the program's. */
function runProgram([command = '', ...args]: readonly string[], variables: Record<string, string>, terminal: Terminal): Promise<number> {
  const inherited: Record<string, string | undefined> = { ...terminal.env };
  for (const name of CREDENTIAL_VARIABLES) delete inherited[name];
  const child = spawn(command, args, { stdio: 'inherit', env: { ...inherited, ...variables } as NodeJS.ProcessEnv });
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of FORWARDED) process.on(signal, pass);
  return new Promise<number>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CliError(
          error.code === 'ENOENT' ? `There is no program named ${command}.` : `${command} could not be started: ${error.message}`,
        ),
      ),
    );
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? (os.constants.signals[signal] ?? 1) : 1)));
  }).finally(() => {
    for (const signal of FORWARDED) process.off(signal, pass);
  });
}

/** A terminal's Ctrl-C reaches the program by itself; what a supervisor sends doesn't. */
const FORWARDED = ['SIGTERM', 'SIGHUP'] as const;
