import type { Sallyport } from '../../client.ts';
import { paginate } from '../../paginate.ts';
import { CliError } from '../exit.ts';

// What the commands of AI agents look up and make. Nothing here takes or prints a provider's key.

export type Gateway = { id: string; name: string; slug: string; status: string };
export type Provider = { id: string; label: string; needs_upstream: boolean; needs_default_model: boolean };
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

export async function allOf<Row>(sallyport: Sallyport, path: string, query: Record<string, unknown>): Promise<Row[]> {
  const rows: Row[] = [];
  const pages = paginate((page) => sallyport.request<Row[]>('GET', path, { query: { ...query, ...page } }) as never);
  for await (const row of pages) rows.push(row as Row);
  return rows;
}
