/** The parts of an OpenAPI document that the schema is made from. */
type Schema = { $ref?: string; properties?: Record<string, Schema>; required?: readonly string[]; [keyword: string]: unknown };
type Document = {
  paths: Record<string, Record<string, { requestBody?: { content: { 'application/json'?: { schema: Schema } } } }>>;
  components: { schemas: Record<string, Schema> };
};

/** Fields that are IDs on the wire, and the name that stands for them in a file. */
const BY_NAME: Readonly<Record<string, string>> = {
  collection_id: 'collection',
  mtls_certificate_id: 'mtls_certificate',
  upstream_ca_certificate_id: 'upstream_ca_certificate',
  secret_id: 'secret',
};
/** Observed, reserved or legacy: no part of a configuration. */
const LEFT_OUT = ['payload_structure', 'injection_rules', 'egress_server_id', 'data_plane_node_id'];

/**
 * JSON Schema of the file that `service-cli apply` reads: the inputs of the create operations, with names in place of IDs, without members that hold
 * secrets, and closed, so that a misspelt member is an error.
 */
export function configurationSchema(document: Document): Record<string, unknown> {
  const body = (method: string, path: string, leave: readonly string[] = []): Schema => {
    const schema = document.paths[path]?.[method]?.requestBody?.content['application/json']?.schema;
    if (!schema) throw new Error(`${method} ${path} has no body to make the configuration schema from`);
    return closed(named(inlined(document, schema), leave));
  };
  const route = body('post', '/routes', LEFT_OUT);
  const environment = body('put', '/routes/{id}/environments/{env}', LEFT_OUT);
  const variable = body('post', '/collections/{id}/variables', ['key', 'type']);
  const credential = body('post', '/clients/{id}/credentials');
  // Material that the service makes is shown once: there is nothing to write down. A certificate is named by its thumbprint.
  for (const field of ['ip', 'mode', 'ttl_days', 'certificate_pem']) delete credential.properties?.data?.properties?.[field];
  const secret = body('post', '/secrets', SECRET_MATERIAL);
  const definitions: Record<string, Schema> = {
    value_from: {
      ...closed({ type: 'object', properties: { env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } }, required: ['env'] }),
      description: 'Where the value is read from when the secret has none yet. It is never compared, printed or exported.',
    },
    secret: withMore(secret, {
      type: { enum: ['string', 'oauth2', 'certificate'], description: 'A connection or certificate must exist already.' },
      value_from: { $ref: '#/$defs/value_from' },
      environments: mapOf(closed({ type: 'object', properties: { value_from: { $ref: '#/$defs/value_from' } }, required: ['value_from'] })),
    }),
    environment: body('post', '/environments'),
    collection: withMore(body('post', '/collections'), {
      variables: mapOf(variable),
      expected_environments: texts,
      environment_defaults: mapOf(
        closed({ type: 'object', properties: { base_url: { type: ['string', 'null'] }, clients: texts } }),
        'Target and clients of member routes, by environment.',
      ),
    }),
    client: withMore(body('post', '/clients'), { credentials: { type: 'array', items: credential, maxItems: 100 } }),
    route: withMore(route, {
      clients: { ...texts, description: 'Clients assigned in the base environment.' },
      environments: mapOf(
        withMore(environment, { clients: { ...texts, description: 'Clients assigned in this environment.' } }),
        'Settings that differ from those of the base environment, by environment. Members that are left out are inherited.',
      ),
      actions: { type: 'array', items: body('post', '/routes/{id}/actions', ['sort_order']), maxItems: 200 },
    }),
  };
  const lists = Object.keys(definitions)
    .filter((one) => one !== 'value_from')
    .map((one): [string, Schema] => [`${one}s`, { type: 'array', items: { $ref: `#/$defs/${one}` } }]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Sallyport configuration',
    description: 'What service-cli apply, diff and export read and write.',
    ...closed({
      type: 'object',
      properties: {
        format: { const: 1, description: 'Version of this format.' },
        space: { enum: ['live', 'test'], description: 'The file is refused with a credential of the other space.' },
        ...Object.fromEntries(lists),
        _delete: closed({
          type: 'object',
          properties: Object.fromEntries(lists.map(([name]) => [name, texts])),
          description: 'Names of what must not exist.',
        }),
      },
      required: ['format'],
    }),
    $defs: definitions,
  };
}

/** What a secret is made of, and what only other types of secrets have: neither belongs in a file. */
const SECRET_MATERIAL = (
  'value client_secret username password certificate_content private_key passphrase secret_type provider grant_type client_id scopes auth_url token_url ' +
  'mtls_certificate_id token_endpoint_auth_method extra_token_params extra_auth_params certificate_type'
).split(' ');

const texts: Schema = { type: 'array', items: { type: 'string' }, uniqueItems: true };
const mapOf = (schema: Schema, description?: string): Schema => ({
  type: 'object',
  additionalProperties: schema,
  ...(description ? { description } : {}),
});
const closed = (schema: Schema): Schema => ({ ...schema, additionalProperties: false });
const withMore = (schema: Schema, more: Record<string, Schema>): Schema => ({ ...schema, properties: { ...schema.properties, ...more } });

/** Names in place of IDs on every level, without the members of `leave` on the first and without any that holds a secret. */
function named(schema: Schema, leave: readonly string[]): Schema {
  const properties = Object.entries(schema.properties ?? {})
    .filter(([name]) => !leave.includes(name))
    .map(([name, one]): [string, Schema] => (BY_NAME[name] ? [BY_NAME[name], nameOf(one)] : [name, deep(one)]));
  const required = schema.required?.filter((name) => !leave.includes(name)).map((name) => BY_NAME[name] ?? name);
  return { ...schema, properties: Object.fromEntries(properties), ...(required ? { required } : {}) };
}

const nameOf = ({ description }: Schema): Schema => ({
  type: ['string', 'null'],
  minLength: 1,
  ...(typeof description === 'string' ? { description: description.replace(/^IDs? /, 'Name ') } : {}),
});

function deep(value: unknown): Schema {
  if (Array.isArray(value)) return value.map(deep) as unknown as Schema;
  if (typeof value !== 'object' || value === null) return value as unknown as Schema;
  const schema = value as Schema;
  if (schema.properties) {
    const secrets = Object.keys(schema.properties).filter((name) => schema.properties?.[name]?.['x-secret']);
    const { additionalProperties: _, ...rest } = named(schema, secrets);
    return closed(rest);
  }
  return Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, deep(one)]));
}

function inlined(document: Document, value: unknown): Schema {
  if (Array.isArray(value)) return value.map((one) => inlined(document, one)) as unknown as Schema;
  if (typeof value !== 'object' || value === null) return value as Schema;
  const { $ref } = value as Schema;
  if (typeof $ref === 'string') return inlined(document, document.components.schemas[$ref.split('/').at(-1) ?? '']);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inlined(document, one)]));
}
