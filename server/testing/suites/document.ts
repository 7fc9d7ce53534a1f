import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { openApiDocument } from '#server/api/openapi/document.ts';
import { canonicalAddress } from '#server/kernel/address.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { Schema } from '../from-schema.ts';

type Response = { $ref?: string; content: { 'application/json': { schema: object } } };
export type Described = {
  parameters: { $ref?: string; name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required?: boolean; content: { 'application/json': { schema: Schema } } };
  responses: Record<string, Response>;
};

const document = openApiDocument([]) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
};

// biome-ignore lint/suspicious/noExplicitAny: the module's default export is typed as a namespace under bundler resolution
const addFormats = addFormatsModule as any;
export const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addFormat('ip-or-cidr', (text: string) => canonicalAddress(text).ok);

/** What OpenAPI says of an operation. */
export function describedBy(op: AnyOperation): Described {
  const [method, path] = op.http.split(' ') as [string, string];
  const described = document.paths[path]?.[method.toLowerCase()];
  if (!described) throw new Error(`${op.id} is not in the OpenAPI document`);
  return described;
}

/** A validator for a schema of the document, from a library that shares no code with the server. */
export const validatorOf = (schema: object) => ajv.compile({ ...schema, components: document.components });

/** The schema behind a reference. */
export const resolved = (schema: Schema): Schema =>
  schema.$ref ? resolved(document.components.schemas[schema.$ref.split('/').at(-1) as string] as Schema) : schema;

/** The response of a status; undefined when it is not documented. */
export function responseOf(op: AnyOperation, status: number): Response | undefined {
  const given = describedBy(op).responses[status];
  return given?.$ref ? document.components.responses[given.$ref.split('/').at(-1) as string] : given;
}
