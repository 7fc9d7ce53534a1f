import type { Family, Field, Operation, OperationTable } from '../sdk/operation.ts';

/** The parts of an OpenAPI document that the table is made from. */
type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly (string | null)[];
  const?: string;
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  'x-secret'?: boolean;
  'x-needed-without'?: string;
};
type Parameter = { $ref?: string; name: string; in: 'path' | 'query' | 'header'; required?: boolean; description?: string; schema: Schema };
type Described = {
  operationId: string;
  summary?: string;
  description?: string;
  tags: readonly string[];
  parameters?: readonly Parameter[];
  security?: readonly unknown[];
  requestBody?: { required?: boolean; content: { 'application/json'?: { schema: Schema } } };
};
type Document = {
  info: { version: string };
  tags: readonly { name: string; description?: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
};

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);
/** Verbs that end something for good without being a DELETE. */
const ENDS = /^(?:revoke|rotate|rotate_secret|reset|disable)$/;

/** Every operation of the document with what a command line needs to know of its input. */
export function operationTable(document: Document): OperationTable {
  const operations: Operation[] = [];
  const families = new Map<string, Family>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, described] of Object.entries(methods)) {
      if (!METHODS.has(method)) continue;
      const family = described.operationId.split('.')[0] ?? '';
      const tag = document.tags.find(({ name }) => name === described.tags[0]);
      families.set(family, { name: family, description: tag?.description ?? '' });
      operations.push(operationOf(document, method.toUpperCase(), path, described));
    }
  const byId = (a: Operation, b: Operation) => (a.id < b.id ? -1 : 1);
  return {
    version: document.info.version,
    families: [...families.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    operations: operations.sort(byId),
  };
}

function operationOf(document: Document, method: string, path: string, described: Described): Operation {
  // The transport sends the headers that all operations share; parameters by reference are those.
  const params = (described.parameters ?? []).filter(({ $ref }) => $ref === undefined);
  const names = params.map(({ name }) => name);
  const body = described.requestBody?.content['application/json']?.schema;
  const verb = described.operationId.split('.').at(-1) ?? '';
  return {
    id: described.operationId,
    method,
    path,
    summary: described.summary ?? '',
    description: described.description ?? '',
    params: params.map((param) => fieldOf(document, param.name, param.in, param.schema, param.required === true, param.description)),
    body: body ? { required: described.requestBody?.required === true, fields: bodyFields(document, body) } : null,
    anonymous: described.security?.length === 0,
    paging: names.includes('cursor') ? 'feed' : names.includes('page') ? 'pages' : null,
    destructive: method === 'DELETE' || ENDS.test(verb),
  };
}

/** The members of a body; of a body with alternatives, those of all of them. */
function bodyFields(document: Document, given: Schema): Field[] {
  const schema = resolved(document, given);
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => bodyFields(document, one));
  const own = Object.entries(schema.properties ?? {}).map(([name, one]) =>
    fieldOf(document, name, 'body', one, schema.required?.includes(name) === true),
  );
  return [...new Map([...alternatives, ...own].map((field) => [field.name, field])).values()];
}

function fieldOf(document: Document, name: string, place: Field['in'], given: Schema, required: boolean, description?: string): Field {
  const schema = resolved(document, given);
  const kinds = kindsOf(document, schema);
  const values = valuesOf(document, schema);
  return {
    name,
    in: place,
    type: typeOf(document, schema, kinds),
    description: description ?? given.description ?? schema.description ?? '',
    required,
    nullable: kinds.includes('null'),
    ...(values.length > 0 ? { values } : {}),
    ...(schema['x-secret'] ? { secret: true as const } : {}),
    ...(schema['x-needed-without'] ? { neededWithout: schema['x-needed-without'] } : {}),
  };
}

function typeOf(document: Document, schema: Schema, kinds: readonly string[]): Field['type'] {
  const [kind, ...others] = kinds.filter((one) => one !== 'null');
  if (others.length > 0) return 'json';
  if (kind === 'array') {
    const items = [schema, ...(schema.anyOf ?? [])].map((one) => resolved(document, one)).find((one) => one.items)?.items;
    return items && kindsOf(document, resolved(document, items)).every((one) => one === 'string') ? 'list' : 'json';
  }
  return kind === 'string' || kind === 'integer' || kind === 'number' || kind === 'boolean' ? kind : 'json';
}

function kindsOf(document: Document, schema: Schema): string[] {
  if (schema.type !== undefined) return [schema.type].flat();
  if (schema.enum || schema.const !== undefined) return ['string'];
  return [...new Set([...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => kindsOf(document, resolved(document, one))))];
}

function valuesOf(document: Document, schema: Schema): string[] {
  const own = schema.enum ?? (typeof schema.const === 'string' ? [schema.const] : []);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => valuesOf(document, resolved(document, one)));
  return [...own, ...inner].filter((value) => typeof value === 'string');
}

function resolved(document: Document, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name ? resolved(document, document.components.schemas[name] ?? {}) : schema;
}
