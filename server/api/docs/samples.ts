import { env } from '#server/platform/env.ts';
import type { Json } from '../openapi/json.ts';
import type { Schemas } from './schema-table.ts';

/** A call of the operation for a terminal, against the Test API, with the example body and ids of the OpenAPI document. */
export function sampleCall(method: string, path: string, item: Json, schemas: Schemas): string {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const parameter = ((item.parameters ?? []) as Json[]).find((one) => one.name === name);
    return String(exampleOf(parameter, schemas) ?? whole);
  });
  const body = exampleOf(((item.requestBody as Json | undefined)?.content as Json | undefined)?.['application/json'] as Json, schemas);
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${env.PUBLIC_SANDBOX_API_URL}${filled}`,
    ...((item.security as unknown[]).length > 0 ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`]),
  ];
  return `\`\`\`bash\n${lines.join(' \\\n  ')}\n\`\`\``;
}

/** The example of a parameter or a body: its own, the first of several, or that of its schema. Undefined when there is none. */
export function exampleOf(part: Json | undefined, schemas: Schemas): unknown {
  if (!part) return undefined;
  if ('example' in part) return part.example;
  const [named] = Object.values((part.examples ?? {}) as Record<string, Json>);
  if (named !== undefined) return typeof named === 'object' && named !== null && 'value' in named ? named.value : named;
  const schema = part.schema as Json | undefined;
  if (typeof schema?.$ref === 'string') return exampleOf(schemas[schema.$ref.split('/').at(-1) ?? ''], schemas);
  return schema ? exampleOf(schema, schemas) : undefined;
}
