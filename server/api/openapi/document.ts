import { NEWEST } from '#server/kernel/versions.ts';
import { v1Operations } from '../operations.ts';
import { envelopeSchemas, headers, parameters, securitySchemes } from './components.ts';
import { descriptionsOf, tagOf } from './descriptions.ts';
import type { Json } from './json.ts';
import { describe, type Shared } from './path-item.ts';

/** public/openapi.json to the byte. The server is relative: the host the document came from, Live or Test. */
export const openApiText = (): string =>
  `${JSON.stringify(openApiDocument([{ url: '/v1', description: 'The host that served this document: Live or Test API' }]), null, 1)}\n`;

/** The OpenAPI 3.1 description of the Management API, made from the operation rows alone. */
export function openApiDocument(servers: { url: string; description: string }[]): Json {
  const paths: Record<string, Json> = {};
  const shared: Shared = { schemas: {}, responses: {} };
  for (const op of v1Operations) {
    const [method, path] = op.http.split(' ') as [string, string];
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(op, method, path, shared) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sallyport Management API',
      version: NEWEST,
      description:
        'Manage the routes, secrets, clients, environments and other resources of your workspace. Every response carries `X-Request-Id`. Branch on `error.type`.',
      contact: { name: 'Sallyport' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers,
    tags: [...new Map(v1Operations.map((op) => [tagOf(op), descriptionsOf(op).about]))]
      .map(([name, description]) => ({ name, description }))
      .sort((a, b) => a.name.localeCompare(b.name)),
    paths: byName(paths),
    components: {
      securitySchemes,
      parameters,
      headers,
      responses: byName(shared.responses),
      schemas: { ...byName(shared.schemas), ...envelopeSchemas },
    },
  };
}

const byName = (entries: Record<string, Json>) => Object.fromEntries(Object.entries(entries).sort(([a], [b]) => a.localeCompare(b)));
