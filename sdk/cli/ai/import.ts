import type { Command } from 'commander';
import { CliError } from '../exit.ts';
import { textOf } from '../operation-input.ts';
import { jsonOf } from '../output.ts';
import { type Chosen, openSession } from '../session.ts';
import type { Shared } from '../shared.ts';
import { plain } from '../terminal.ts';
import { type Plan, planOf } from './litellm.ts';
import { chosenGateway, createGateway, createSecret, ensureAgent, secretByName } from './workspace.ts';

type Flags = Chosen & { from: string; file?: string; gateway?: string; apply?: boolean; json?: boolean };

/** `ai import`: another proxy's configuration as gateways and agents. A dry run unless it is told to apply (interface rule 50 §14.12). */
export function addImport(ai: Command, { terminal }: Shared): void {
  ai.command('import')
    .description('Create agents from the configuration of a LiteLLM proxy. Shows what it would do; --apply does it.')
    .requiredOption('--from <product>', 'where the file comes from: litellm')
    .requiredOption('--file <path>', 'the config.yaml, or - for standard input')
    .option('--gateway <slug>', 'gateway the agents belong to (default: the only one; one is created if there is none)')
    .option('--apply', 'create what was shown')
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      if (flags.from !== 'litellm') throw new CliError('Only --from litellm can be imported.');
      const plan = planOf(await textOf(flags.file === '-' ? '-' : `@${flags.file}`, terminal));
      if (!flags.apply) {
        show(plan, flags.json === true);
        return;
      }
      const missing = plan.agents.filter(({ key_from }) => key_from === null || !terminal.env[key_from]);
      if (missing.length > 0)
        throw new CliError(`No key for ${missing.map(({ slug }) => slug).join(', ')}: nothing was created.`, {
          next_step: 'Keys are read from environment variables only. Write os.environ/NAME as the api_key, and set that variable.',
        });
      const made = await apply(plan, flags);
      if (flags.json) terminal.print(jsonOf({ agents: made, skipped: plan.skipped }, 2));
      else for (const { slug, agent_url } of made) terminal.print(`${plain(slug)}  ${plain(agent_url)}`);
    });

  function show(plan: Plan, json: boolean): void {
    if (json) {
      terminal.print(jsonOf(plan, 2));
      return;
    }
    for (const agent of plan.agents) {
      const key = agent.key_from === null ? 'no key: write os.environ/NAME as the api_key' : `key from ${agent.key_from}`;
      terminal.print(
        plain(`agent ${agent.slug}: ${agent.provider}${agent.upstream ? ` at ${agent.upstream}` : ''}, ${agent.model}, ${key}`),
      );
    }
    for (const [alias, model] of Object.entries(plan.aliases)) terminal.print(plain(`alias ${alias}: ${model}`));
    for (const reason of plan.skipped) terminal.error(terminal.style.yellow(plain(`left out: ${reason}`)));
    terminal.error(terminal.style.dim('Nothing was created. --apply creates it.'));
  }

  async function apply(plan: Plan, flags: Flags) {
    const { sallyport } = openSession(terminal, flags);
    const existing = await chosenGateway(sallyport, flags.gateway);
    const gateway = existing ?? (await createGateway(sallyport, { name: 'Default', slug: 'default' }));
    if (Object.keys(plan.aliases).length > 0) {
      const { data } = await sallyport.request<{ model_aliases: Record<string, string> }>('GET', '/ai-gateway/gateways/{id}', {
        path: { id: gateway.id },
      });
      // What is there already stays as it is.
      await sallyport.request('PATCH', '/ai-gateway/gateways/{id}', {
        path: { id: gateway.id },
        body: { model_aliases: { ...plan.aliases, ...data.model_aliases } },
      });
    }
    const made: { slug: string; agent_url: string }[] = [];
    for (const { key_from, model, upstream, ...agent } of plan.agents) {
      const name = `ai-gateway-${agent.slug}-key`;
      const secret = (await secretByName(sallyport, name)) ?? (await createSecret(sallyport, name, terminal.env[key_from ?? ''] ?? ''));
      const body = { ...agent, default_model: model, upstream_secret_id: secret.id, ...(upstream === null ? {} : { upstream }) };
      const { slug, agent_url } = await ensureAgent(sallyport, gateway.id, body, terminal);
      made.push({ slug, agent_url });
    }
    return made;
  }
}
