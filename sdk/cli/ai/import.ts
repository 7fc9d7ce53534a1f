import type { Command } from 'commander';
import type { Sallyport } from '../../client.ts';
import { CliError } from '../exit.ts';
import { textOf } from '../operation-input.ts';
import { jsonOf } from '../output.ts';
import { type Chosen, openSession } from '../session.ts';
import type { Shared } from '../shared.ts';
import { plain } from '../terminal.ts';
import { planOf } from './litellm.ts';
import { type Plan, type PlannedAgent, settingsText } from './litellm-plan.ts';
import { type Agent, chosenGateway, createGateway, createSecret, ensureAgent, secretByName } from './workspace.ts';

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
        if (flags.gateway !== undefined) await chosenGateway(openSession(terminal, flags).sallyport, flags.gateway);
        show(plan, flags.json === true);
        return;
      }
      const missing = plan.agents.filter(
        ({ keyless, key_from, more_keys_from }) =>
          !keyless && [key_from, ...more_keys_from].some((name) => name === null || !terminal.env[name]),
      );
      if (missing.length > 0)
        throw new CliError(`No key for ${missing.map(({ slug }) => slug).join(', ')}: nothing was created.`, {
          next_step: 'Keys are read from environment variables only. Write os.environ/NAME as the api_key, and set that variable.',
        });
      const made = await apply(plan, flags);
      if (flags.json) terminal.print(jsonOf({ agents: made, skipped: plan.skipped, notes: plan.notes }, 2));
      else for (const { slug, agent_url } of made) terminal.print(`${plain(slug)}  ${plain(agent_url)}`);
    });

  function show(plan: Plan, json: boolean): void {
    if (json) {
      terminal.print(jsonOf(plan, 2));
      return;
    }
    for (const agent of plan.agents) {
      const unnamed = agent.keyless ? 'without a key' : 'no key: write os.environ/NAME as the api_key';
      const key = agent.key_from === null ? unnamed : `key from ${[agent.key_from, ...agent.more_keys_from].join(', ')}`;
      terminal.print(
        plain(`agent ${agent.slug}: ${agent.provider}${agent.upstream ? ` at ${agent.upstream}` : ''}, ${agent.model}, ${key}`),
      );
    }
    for (const agent of plan.agents) {
      const settings = settingsText(agent);
      if (settings !== '') terminal.print(plain(`settings of ${agent.slug}: ${settings}`));
    }
    for (const { slug, shares, fallbacks } of plan.agents) {
      const share = ([other, weight]: [string, number]) => `${other} ${weight}`;
      if (Object.keys(shares).length > 0)
        terminal.print(plain(`calls of ${slug} are shared: ${Object.entries(shares).map(share).join(', ')}`));
      if (fallbacks.length > 0) terminal.print(plain(`calls of ${slug} that fail go to: ${fallbacks.join(', ')}`));
    }
    for (const [alias, model] of Object.entries(plan.aliases)) terminal.print(plain(`alias ${alias}: ${model}`));
    for (const reason of plan.skipped) terminal.error(terminal.style.yellow(plain(`left out: ${reason}`)));
    for (const note of plan.notes) terminal.error(plain(`note: ${note}`));
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
    const made = new Map<string, Agent>();
    for (const planned of plan.agents) {
      const { key_from, more_keys_from, keyless, shares: _, fallbacks: __, model, upstream, ...agent } = planned;
      const names = keyless ? [] : [key_from, ...more_keys_from];
      const keys: string[] = [];
      for (const [i, variable] of names.entries())
        keys.push(await storedKey(sallyport, `ai-gateway-${agent.slug}-key${i === 0 ? '' : `-${i + 1}`}`, variable));
      const body = {
        ...agent,
        default_model: model,
        ...(keys.length > 0 ? { upstream_secret_id: keys[0] } : {}),
        ...(keys.length > 1 ? { upstream_secret_ids: keys } : {}),
        ...(upstream === null ? {} : { upstream }),
      };
      made.set(agent.slug, await ensureAgent(sallyport, gateway.id, body, terminal));
    }
    // Routes come with the agents, so they can be named now.
    for (const planned of plan.agents) if (planned.fallbacks.length > 0) await share(sallyport, planned, made);
    return [...made.values()].map(({ slug, agent_url }) => ({ slug, agent_url }));
  }

  /** The ID of the secret of this name, which is stored from the environment unless it exists. */
  async function storedKey(sallyport: Sallyport, name: string, variable: string | null): Promise<string> {
    const secret = (await secretByName(sallyport, name)) ?? (await createSecret(sallyport, name, terminal.env[variable ?? ''] ?? ''));
    return secret.id;
  }

  /** Routes of other agents share the calls of this one, or take over when they fail. */
  async function share(sallyport: Sallyport, { slug, shares, fallbacks, routing_policy }: PlannedAgent, made: ReadonlyMap<string, Agent>) {
    const routeOf = (name: string): string[] => {
      const id = made.get(name)?.primary_route_id;
      return id == null ? [] : [id];
    };
    const weights = Object.entries(shares).flatMap(([name, weight]) => routeOf(name).map((id) => [id, weight] as const));
    await sallyport.request('PATCH', '/ai-gateway/agents/{id}', {
      path: { id: made.get(slug)?.id ?? '' },
      body: {
        fallback_route_ids: fallbacks.flatMap(routeOf),
        ...(weights.length > 0 ? { routing_policy: { ...routing_policy, route_weights: Object.fromEntries(weights) } } : {}),
      },
    });
  }
}
