import type { AnyOperation } from '#server/kernel/operation.ts';
import { tagOf } from '../openapi/descriptions.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { Json } from '../openapi/json.ts';
import { v1Operations } from '../operations.ts';
import { exampleOf, sampleCall } from './samples.ts';
import { fieldTable, type Schemas } from './schema-table.ts';

const DELETED = 'Deleted';
/** Objects explained once for all operations (docs/openapi.md), not with each family. */
const UNLISTED: ReadonlySet<string> = new Set([DELETED, 'Meta', 'PageMeta', 'FeedMeta', 'Error']);

let described: Json | undefined;

/** The OpenAPI document, made once per process. */
const openApi = (): Json => {
  described ??= openApiDocument([]);
  return described;
};

/** The operations and objects of one OpenAPI tag as Markdown, headed "API reference". @throws Error for a tag without operations */
export function referenceOf(tag: string): string {
  const schemas = (openApi().components as Json).schemas as Schemas;
  const operations = v1Operations.filter((op) => tagOf(op) === tag).sort((a, b) => rankOf(a) - rankOf(b));
  if (operations.length === 0) throw new Error(`No operation has the tag ${tag}.`);
  const items = operations.map((op) => ({ op, item: itemOf(op) }));
  const objects = namedIn(
    items.map(({ item }) => [item.requestBody, successOf(item)]),
    schemas,
  ).filter((name) => !UNLISTED.has(name));
  return [
    '## API reference',
    ...items.map(({ op, item }) => operationText(op, item, schemas)),
    ...(objects.length > 0 ? ['## Objects', ...objects.map((name) => objectText(name, schemas))] : []),
  ].join('\n\n');
}

/** The usual order of a reference: list, create, get, update, delete, then parts of the object and actions. */
const VERBS = ['list', 'create', 'get', 'update', 'delete'];
const rankOf = (op: AnyOperation): number => {
  const [, verb = '', ...inner] = op.id.split('.');
  const at = VERBS.indexOf(verb);
  return at < 0 || inner.length > 0 ? VERBS.length : at;
};

function itemOf(op: AnyOperation): Json {
  const [method = '', path = ''] = op.http.split(' ');
  return (openApi().paths as Record<string, Record<string, Json>>)[path]?.[method.toLowerCase()] as Json;
}

function operationText(op: AnyOperation, item: Json, schemas: Schemas): string {
  const [method = '', path = ''] = op.http.split(' ');
  const parameters = ((item.parameters ?? []) as Json[]).filter((one) => !('$ref' in one));
  const body = jsonOf(item.requestBody as Json | undefined);
  const result = returned(item);
  const answer = exampleOf(successOf(item), schemas);
  return [
    `### ${op.summary}`,
    `\`${method} /v1${path}\``,
    ...(typeof item.description === 'string' ? [item.description] : []),
    permissionText(item),
    ...(parameters.length > 0 ? ['**Parameters**', fieldTable(asObject(parameters), true)] : []),
    ...(body ? ['**Body**', fieldTable(body.schema as Json, true)] : []),
    ...(result
      ? [
          `Returns ${result.name === DELETED ? '`deleted: true`' : `${result.many ? 'a list of' : 'a'} [${result.name}](#${anchor(result.name)})`}.`,
        ]
      : []),
    ...(op.refuses.length > 0
      ? [
          `**Errors:** ${[...op.refuses]
            .sort()
            .map((type) => `[${type}](/docs/errors#${type})`)
            .join(', ')}, and the [common ones](/docs/errors#common).`,
        ]
      : []),
    sampleCall(method, `/v1${path}`, item, schemas),
    ...(answer === undefined ? [] : [`\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``]),
  ].join('\n\n');
}

/** The names of all objects that a part of the document refers to, directly or through others, in the order they are met. */
function namedIn(part: unknown, schemas: Schemas, found = new Set<string>()): string[] {
  if (typeof part !== 'object' || part === null) return [...found];
  const name = nameOf((part as Json).$ref);
  if (name && !found.has(name)) {
    found.add(name);
    namedIn(schemas[name], schemas, found);
  }
  for (const inner of Object.values(part)) namedIn(inner, schemas, found);
  return [...found];
}

const nameOf = (ref: unknown): string | undefined => (typeof ref === 'string' ? ref.split('/').at(-1) : undefined);

const permissionText = (item: Json): string => {
  const scopes = (item['x-scopes'] ?? []) as string[];
  if ((item.security as unknown[]).length === 0) return 'No credential needed.';
  return scopes.length > 0 ? `Scope: ${scopes.map((scope) => `\`${scope}\``).join(', ')}.` : 'Any valid API key.';
};

const objectText = (name: string, schemas: Schemas): string => [`### ${name}`, fieldTable(schemas[name] as Json, false)].join('\n\n');

/** Parameters in the shape of an object schema, so that one table serves both. */
const asObject = (parameters: readonly Json[]): Json => ({
  properties: Object.fromEntries(
    parameters.map(({ name, in: place, schema, description }) => [
      name,
      { ...(schema as Json), description: place === 'header' ? `Header. ${description ?? ''}` : description },
    ]),
  ),
  required: parameters.filter(({ required }) => required).map(({ name }) => name),
});

const jsonOf = (part: Json | undefined): Json | undefined => (part?.content as Json | undefined)?.['application/json'] as Json | undefined;

const successOf = (item: Json): Json | undefined => {
  const [, success] = Object.entries((item.responses ?? {}) as Record<string, Json>).find(([status]) => status.startsWith('2')) ?? [];
  return jsonOf(success);
};

/** The named object that a success carries in `data`, alone or as a list. */
function returned(item: Json): { name: string; many: boolean } | undefined {
  const data = ((successOf(item)?.schema as Json | undefined)?.properties as Json | undefined)?.data as Json | undefined;
  const one = (data?.items ?? data) as Json | undefined;
  const name = nameOf(one?.$ref);
  return name ? { name, many: data?.items !== undefined } : undefined;
}

const anchor = (name: string): string => name.toLowerCase();
