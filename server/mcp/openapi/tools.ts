import { parameterHeaderProblem, type ToolOperation, type ToolParameter, templateProblem } from '../tool-operation.ts';
import { type Json, object, resolved, textOf } from './document.ts';
import { type Budget, inlined, SchemaTooLarge, toolBudget } from './schemas.ts';

export const MAX_TOOLS = 200;
/** Paths of a description that are looked at. */
const MAX_PATHS = 2_000;
/** On average: writing schemas out holds the process. */
const NODES_PER_TOOL = 500;
const TIMEOUT_MS = 30_000;

export type ToolDraft = { tool_name: string; description: string | null; input_schema: Json; operation: ToolOperation };
export type Skipped = { operation: string; reason: string };
export type Drafts = { tools: ToolDraft[]; skipped: Skipped[] };
export type Choice = {
  include?: readonly string[] | undefined;
  prefix?: string | undefined;
  /** Whether header parameters become arguments; they do. */
  headers?: boolean;
  /** At most so many tools; 200. */
  most?: number;
};

/** Not a description of the kind that can be imported; the message continues the name of a field. */
export class NotOpenApi extends Error {
  override readonly name = 'NotOpenApi';
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;

/**
 * Tools for the operations of an OpenAPI 3.0 or 3.1 description (interface rule 52 §9). Pure: servers, callbacks and references to other documents are ignored.
 * What can't be a tool is listed with the reason. @throws NotOpenApi
 */
export function toolsFromOpenApi(given: unknown, { include, prefix = '', headers = true, most = MAX_TOOLS }: Choice = {}): Drafts {
  const document = object(given);
  if (document.swagger !== undefined) throw new NotOpenApi('is a Swagger 2 description; convert it to OpenAPI 3 first');
  if (!/^3\.[01](?:\.|$)/.test(textOf(document.openapi))) throw new NotOpenApi('is not an OpenAPI 3.0 or 3.1 description');
  const secret = credentialParameters(document);
  const drafts: Drafts = { tools: [], skipped: [] };
  const names = new Set<string>();
  // What is skipped takes time too.
  let left = most * NODES_PER_TOOL;
  for (const [path, value] of Object.entries(object(document.paths)).slice(0, MAX_PATHS)) {
    const item = resolved(document, value);
    for (const method of METHODS) {
      if (!Object.hasOwn(item, method)) continue;
      const operation = object(item[method]);
      const label = textOf(operation.operationId).slice(0, 200) || `${method.toUpperCase()} ${path.slice(0, 200)}`;
      if (include && !include.includes(textOf(operation.operationId)) && !include.includes(label)) continue;
      if (drafts.tools.length === most) {
        skip(drafts, label, `an import makes at most ${most} tools`);
        continue;
      }
      if (left < 0) {
        skip(drafts, label, 'the schemas of the tools before it are as large together as an import may be');
        continue;
      }
      const budget = toolBudget();
      const { left: whole } = budget;
      const made = toolOf(document, { path, method, item, operation, secret, headers, budget });
      left -= whole - budget.left;
      if (typeof made === 'string') skip(drafts, label, made);
      else drafts.tools.push({ ...made, tool_name: freeName(`${prefix}${nameOf(operation, method, path)}`, names) });
    }
  }
  return drafts;
}

function skip(drafts: Drafts, operation: string, reason: string): void {
  if (drafts.skipped.length < 1_000) drafts.skipped.push({ operation, reason });
}

type Operation = {
  path: string;
  method: (typeof METHODS)[number];
  item: Json;
  operation: Json;
  secret: ReadonlySet<string>;
  headers: boolean;
  budget: Budget;
};

/** The tool, or why there is none. */
function toolOf(
  document: Json,
  { path, method, item, operation, secret, headers, budget }: Operation,
): Omit<ToolDraft, 'tool_name'> | string {
  try {
    const parameters = parametersOf(document, item, operation).filter(
      (one) =>
        !secret.has(`${one.in}:${one.name.toLowerCase()}`) && !(one.in === 'header' && (!headers || parameterHeaderProblem(one.name))),
    );
    const unsupported = parameters.find((one) => one.in !== 'cookie' && !isPlace(one.in));
    if (unsupported) return `its parameter ${unsupported.name} has no place that is supported`;
    const body = bodyOf(document, operation);
    if (typeof body === 'string') return body;
    const args = new Set<string>();
    const properties: [string, Json][] = [];
    const required: string[] = [];
    const param_map: ToolParameter[] = [];
    for (const { name, in: place, required: needed, schema, description } of parameters) {
      if (!isPlace(place)) continue;
      const arg = argumentName(name, place, args);
      properties.push([arg, { ...inlined(document, schema, budget), ...(description ? { description } : {}) }]);
      param_map.push({ arg, in: place, name });
      if (needed || place === 'path') required.push(arg);
    }
    if (body) {
      const arg = argumentName('body', 'body', args);
      properties.push([arg, inlined(document, body.schema, budget)]);
      param_map.push({ arg, in: 'body', name: '' });
      if (body.required) required.push(arg);
    }
    const problem = templateProblem(
      path,
      param_map.filter((one) => one.in === 'path').map((one) => one.name),
    );
    if (problem) return `its path ${problem}`;
    const input_schema: Json = {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    };
    return {
      description: describe(operation),
      input_schema,
      operation: {
        method: method.toUpperCase() as ToolOperation['method'],
        path_template: path,
        param_map,
        body_mode: body ? body.mode : 'none',
        result: answersJson(document, operation) ? 'json' : 'text',
        timeout_ms: TIMEOUT_MS,
      },
    };
  } catch (error) {
    if (error instanceof SchemaTooLarge) return 'its schema is too large for a tool';
    throw error;
  }
}

type Parameter = { name: string; in: string; required: boolean; schema: unknown; description: string };
const isPlace = (place: string): place is 'path' | 'query' | 'header' => place === 'path' || place === 'query' || place === 'header';

/** Those of the operation replace those of the path with the same place and name. */
function parametersOf(document: Json, item: Json, operation: Json): Parameter[] {
  const found = new Map<string, Parameter>();
  for (const value of [...list(item.parameters), ...list(operation.parameters)].slice(0, 200)) {
    const parameter = resolved(document, value);
    const name = textOf(parameter.name);
    const place = textOf(parameter.in);
    if (name === '' || name.length > 128) continue;
    const [media] = Object.values(object(parameter.content));
    found.set(`${place}:${name}`, {
      name,
      in: place,
      required: parameter.required === true,
      schema: parameter.schema ?? object(media).schema,
      description: textOf(parameter.description).slice(0, 1_000),
    });
  }
  return [...found.values()];
}

type Body = { mode: 'json' | 'form'; schema: unknown; required: boolean };

/** The JSON body, or the form; null without one; a text says why the operation can't be called. */
function bodyOf(document: Json, operation: Json): Body | null | string {
  if (operation.requestBody === undefined) return null;
  const body = resolved(document, operation.requestBody);
  const required = body.required === true;
  const media = Object.entries(object(body.content));
  const of = (matches: RegExp) => media.find(([type]) => matches.test(type));
  const json = of(/^application\/(?:[a-z0-9.+-]+\+)?json(?:;|$)/i);
  const form = of(/^application\/x-www-form-urlencoded(?:;|$)/i);
  const chosen = json ?? form;
  if (chosen) return { mode: json ? 'json' : 'form', schema: object(chosen[1]).schema, required };
  if (!required) return null;
  const kind = media[0]?.[0].slice(0, 100) ?? 'unknown';
  return /^multipart\//i.test(kind) ? 'it takes a multipart body' : `it takes a body of type ${kind}`;
}

const answersJson = (document: Json, operation: Json): boolean =>
  Object.entries(object(operation.responses)).some(
    ([status, response]) =>
      /^2/.test(status) && Object.keys(object(resolved(document, response).content)).some((type) => /json/i.test(type)),
  );

/** `place:name` of what authenticates: credentials come from custody, never from a model. */
function credentialParameters(document: Json): ReadonlySet<string> {
  const schemes = Object.values(object(object(document.components).securitySchemes)).map((scheme) => resolved(document, scheme));
  return new Set([
    'header:authorization',
    ...schemes.flatMap((scheme) =>
      textOf(scheme.type).toLowerCase() === 'apikey' ? [`${textOf(scheme.in)}:${textOf(scheme.name).toLowerCase()}`] : [],
    ),
  ]);
}

function describe(operation: Json): string | null {
  const parts = [textOf(operation.summary).trim(), textOf(operation.description).trim()].filter((text) => text !== '');
  const text = (parts[0] === parts[1] ? parts.slice(0, 1) : parts).join('\n\n').slice(0, 1_024).trim();
  return text === '' ? null : text;
}

/** Property names that every model accepts. */
function argumentName(name: string, place: string, taken: Set<string>): string {
  const clean = name.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 56) || place;
  let free = clean;
  for (let n = 1; taken.has(free); n++) free = n === 1 ? `${clean}_${place}`.slice(0, 64) : `${clean}_${n}`;
  taken.add(free);
  return free;
}

function nameOf(operation: Json, method: string, path: string): string {
  const id = textOf(operation.operationId).replace(/[^A-Za-z0-9_.-]+/g, '_');
  return id !== '' && id !== '_'
    ? id
    : `${method}_${
        path
          .split(/[^A-Za-z0-9.-]+/)
          .filter(Boolean)
          .join('_') || 'root'
      }`;
}

function freeName(name: string, taken: Set<string>): string {
  const clean = name.slice(0, 120);
  let free = clean;
  for (let n = 2; taken.has(free); n++) free = `${clean}_${n}`;
  taken.add(free);
  return free;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
