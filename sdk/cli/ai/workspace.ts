import type { Sallyport } from '../../client.ts';
import { SallyportError } from '../../error.ts';
import { paginate } from '../../paginate.ts';
import { CliError } from '../exit.ts';
import { plain, type Terminal } from '../terminal.ts';

// What the commands of AI agents look up and make. Nothing here takes or prints a provider's key.

export type Gateway = { id: string; name: string; slug: string; status: string };
export type Provider = { id: string; label: string; needs_upstream: boolean; needs_secret: boolean; needs_default_model: boolean };
type Named = { id: string; shortcode_name: string };

export const gatewaysOf = (sallyport: Sallyport): Promise<Gateway[]> =>
  allOf<Gateway>(sallyport, '/ai-gateway/gateways', { status: 'active' });

/** The gateway that was named, or the only one; undefined when there is none. @throws CliError when it isn't clear which */
export async function chosenGateway(sallyport: Sallyport, named: string | undefined): Promise<Gateway | undefined> {
  const gateways = await gatewaysOf(sallyport);
  if (named !== undefined) {
    const found = gateways.find(({ id, slug }) => id === named || slug === named);
    if (!found) throw new CliError(`No active gateway is called ${named}.`, { next_step: listed(gateways) });
    return found;
  }
  if (gateways.length > 1) throw new CliError('There are several gateways: choose one with --gateway.', { next_step: listed(gateways) });
  return gateways[0];
}

const listed = (gateways: readonly Gateway[]): string => `Gateways: ${gateways.map(({ slug }) => slug).join(', ') || 'none'}`;

export const createGateway = async (
  sallyport: Sallyport,
  gateway: { name: string; slug: string } & Record<string, unknown>,
): Promise<Gateway> => (await sallyport.request<Gateway>('POST', '/ai-gateway/gateways', { body: gateway })).data;

export type Agent = {
  id: string;
  slug: string;
  status: string;
  provider: string | null;
  primary_route_id: string | null;
  default_model: string | null;
  agent_url: string;
};

/**
 * Makes an agent, or goes on with the one of this slug and provider that an earlier run made before it was refused something. Any other agent of that slug
 * is the service's conflict.
 */
export async function ensureAgent(
  sallyport: Sallyport,
  gateway: string,
  body: { slug: string; provider: string } & Record<string, unknown>,
  { error: say, style }: Terminal,
): Promise<Agent> {
  try {
    const { data, warning } = await sallyport.request<Agent>('POST', '/ai-gateway/gateways/{id}/agents', { path: { id: gateway }, body });
    if (warning) say(`${style.yellow('Warning:')} ${plain(warning)}`);
    return data;
  } catch (error) {
    if (!(error instanceof SallyportError) || error.type !== 'conflict') throw error;
    const agents = await allOf<Agent>(sallyport, '/ai-gateway/gateways/{id}/agents', {}, { id: gateway });
    const made = agents.find(({ slug, provider, status }) => slug === body.slug && provider === body.provider && status === 'active');
    if (!made) throw error;
    say(style.dim(`Using the agent ${plain(made.slug)}, which exists. Its key and settings stay as they are.`));
    return made;
  }
}

/** A secret by its name; undefined when there is none. */
export async function secretByName(sallyport: Sallyport, name: string): Promise<Named | undefined> {
  const found = await allOf<Named>(sallyport, '/secrets', { q: name });
  return found.find(({ shortcode_name }) => shortcode_name === name);
}

export const createSecret = async (sallyport: Sallyport, name: string, value: string): Promise<Named> =>
  (await sallyport.request<Named>('POST', '/secrets', { body: { name, value } })).data;

/** @throws CliError naming the providers that there are */
export async function providerOf(sallyport: Sallyport, id: string): Promise<Provider> {
  const { data } = await sallyport.request<Provider[]>('GET', '/ai-gateway/providers');
  const found = data.find((provider) => provider.id === id);
  if (!found) throw new CliError(`No provider is called ${id}.`, { next_step: `Providers: ${data.map((one) => one.id).join(', ')}` });
  return found;
}

export async function allOf<Row>(
  sallyport: Sallyport,
  address: string,
  query: Record<string, unknown>,
  path: Record<string, string> = {},
): Promise<Row[]> {
  const rows: Row[] = [];
  const pages = paginate((page) => sallyport.request<Row[]>('GET', address, { path, query: { ...query, ...page } }) as never);
  for await (const row of pages) rows.push(row as Row);
  return rows;
}
