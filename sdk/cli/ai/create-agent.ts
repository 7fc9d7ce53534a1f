import type { Command } from 'commander';
import type { Sallyport } from '../../client.ts';
import { CliError } from '../exit.ts';
import { jsonOf } from '../output.ts';
import { type Chosen, openSession } from '../session.ts';
import type { Shared } from '../shared.ts';
import { plain, type Terminal } from '../terminal.ts';
import {
  type Agent,
  chosenGateway,
  createGateway,
  createSecret,
  ensureAgent,
  type Provider,
  providerOf,
  secretByName,
} from './workspace.ts';

type Flags = Chosen & {
  provider?: string;
  name?: string;
  secret?: string;
  secretFromEnv?: string;
  gateway?: string;
  upstream?: string;
  model?: string;
  token: boolean;
  json?: boolean;
};
type Minted = { token: string; expires_at: string };

/** `ai create-agent`: a provider's key in, and what an SDK needs out (interface rule 50 §5.2). */
export function addCreateAgent(ai: Command, { terminal }: Shared): void {
  ai.command('create-agent')
    .description('Create an agent with its route and a token, and print what to paste into an SDK.')
    .argument('<slug>', 'name of the agent in its address')
    .option('--provider <id>', 'provider that it calls. Required.')
    .option('--secret <name>', 'secret with the provider’s key, by name or ID')
    .option('--secret-from-env <variable>', 'store the key from this environment variable as the secret ai-gateway-<slug>-key')
    .option('--name <text>', 'display name (default: the slug)')
    .option('--gateway <slug>', 'gateway it belongs to (default: the only one; one is created if there is none)')
    .option('--upstream <url>', 'base URL of the provider, where it isn’t called at its usual address, such as http://10.0.0.5:11434')
    .option('--model <id>', 'default model')
    .option('--no-token', 'don’t mint a token')
    .action(async (slug: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      if (flags.provider === undefined)
        throw new CliError('An agent needs a provider: --provider.', { next_step: 'service-cli ai-gateways providers lists them.' });
      const { sallyport } = openSession(terminal, flags);
      const provider = await providerOf(sallyport, flags.provider);
      if (provider.needs_upstream && flags.upstream === undefined) throw new CliError(`${provider.label} needs its address: --upstream.`);
      if (provider.needs_default_model && flags.model === undefined) throw new CliError(`${provider.label} needs a model: --model.`);
      // Before anything is made: it may refuse.
      const existing = await chosenGateway(sallyport, flags.gateway);
      const secretId = await secretFor(sallyport, slug, flags, provider, terminal);
      const gateway = existing ?? (await createGateway(sallyport, { name: 'Default', slug: 'default' }));
      const body = {
        name: flags.name ?? slug,
        slug,
        provider: provider.id,
        ...(secretId === null ? {} : { upstream_secret_id: secretId }),
        ...(flags.upstream === undefined ? {} : { upstream: flags.upstream }),
        ...(flags.model === undefined ? {} : { default_model: flags.model }),
      };
      const agent = await ensureAgent(sallyport, gateway.id, body, terminal);
      const minted = flags.token ? await mint(sallyport, agent, terminal) : undefined;
      if (flags.json) terminal.print(jsonOf({ agent, gateway, ...(minted ? { token: minted } : {}) }, 2));
      else printSetup(agent, minted, terminal);
    });
}

/** A token is refused to a login that is more than 12 hours old: the agent stays, and the same command goes on with it. */
async function mint(sallyport: Sallyport, agent: Agent, terminal: Terminal): Promise<Minted> {
  const request = { path: { id: agent.id }, body: { name: 'service-cli' } };
  try {
    return (await sallyport.request<Minted>('POST', '/ai-gateway/agents/{id}/tokens', request)).data;
  } catch (error) {
    terminal.error(
      `The agent ${plain(agent.slug)} is ready, but has no token yet. Correct the cause and run the command again: it goes on from here.`,
    );
    throw error;
  }
}

/**
 * The secret that holds the key: named, or stored from the environment once; a command line is no place for a key. Null where none is named for a provider
 * that needs none.
 */
async function secretFor(sallyport: Sallyport, slug: string, flags: Flags, provider: Provider, terminal: Terminal): Promise<string | null> {
  if (flags.secret !== undefined && flags.secretFromEnv !== undefined) throw new CliError('Use --secret or --secret-from-env, not both.');
  if (flags.secret !== undefined) {
    const found = await secretByName(sallyport, flags.secret);
    // An ID that doesn't exist is refused by the service.
    if (!found && !/^[0-9a-f-]{36}$/i.test(flags.secret)) throw new CliError(`No secret is called ${flags.secret}.`);
    return found?.id ?? flags.secret;
  }
  const name = `ai-gateway-${slug}-key`;
  const held = await secretByName(sallyport, name);
  if (held) {
    terminal.error(terminal.style.dim(`Using the secret ${name}, which exists.`));
    return held.id;
  }
  if (flags.secretFromEnv === undefined && !provider.needs_secret) return null;
  if (flags.secretFromEnv === undefined)
    throw new CliError('An agent needs the provider’s key: --secret or --secret-from-env.', {
      next_step: 'Put the key into an environment variable and name that: --secret-from-env OPENAI_API_KEY',
    });
  const value = terminal.env[flags.secretFromEnv];
  if (!value) throw new CliError(`The environment variable ${flags.secretFromEnv} is empty.`);
  return (await createSecret(sallyport, name, value)).id;
}

/** Lines for a shell, one paste each. */
function printSetup(agent: Agent, minted: Minted | undefined, { print, style, error }: Terminal): void {
  const token = minted?.token ?? 'svcp_YOUR_TOKEN';
  error(style.green(`The agent ${agent.slug} is ready.`));
  if (minted) error(style.yellow(`The token is shown only now. It ends on ${minted.expires_at.slice(0, 10)}.`));
  print(`export OPENAI_BASE_URL=${quoted(`${agent.agent_url}/v1`)} OPENAI_API_KEY=${quoted(token)}`);
  print(`export ANTHROPIC_BASE_URL=${quoted(agent.agent_url)} ANTHROPIC_API_KEY=${quoted(token)}`);
}

const quoted = (text: string): string => `'${plain(text).replaceAll("'", "'\\''")}'`;
