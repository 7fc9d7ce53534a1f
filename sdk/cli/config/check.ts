import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { asDoubles, isExact } from '#server/kernel/lossless-json.ts';
import schema from '../../generated/configuration.json' with { type: 'json' };
import { CliError } from '../exit.ts';
import { type Configuration, type Entry, emptyConfiguration, KIND_NAMES, type KindName, oneOf } from './document.ts';
import type { ParsedFile } from './files.ts';
import { literalCredentials } from './literals.ts';

/** JSON Schema of a file, made from the inputs of the operations. */
export const configurationSchema: object = schema;

const MOST_PROBLEMS = 20;

/** The files as one configuration. @throws CliError that names every problem with its file, line, path and next step */
export function configurationOf(files: readonly ParsedFile[]): Configuration {
  const problems: string[] = [];
  const validate = new Ajv2020({ allErrors: true, verbose: true, strict: false, validateFormats: false, unicodeRegExp: false }).compile(
    schema,
  );
  for (const file of files) problems.push(...shapeProblems(file, validate));
  refuse(problems);
  const configuration = emptyConfiguration();
  for (const file of files) problems.push(...merge(configuration, file));
  refuse(problems);
  return configuration;
}

/** @throws CliError when there are problems */
export function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const more = problems.length - MOST_PROBLEMS;
  throw new CliError([...problems.slice(0, MOST_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'), {
    next_step: 'Nothing was changed. service-cli schema prints what a file can say.',
  });
}

function shapeProblems({ file, value, lineOf }: ParsedFile, validate: ValidateFunction): string[] {
  const where = (path: readonly (string | number)[]) => {
    const line = lineOf(path);
    return `${file}${line === undefined ? '' : `:${line}`} ${shown(value, path)}`.trimEnd();
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${file} is not a configuration: it must be a mapping that starts with format: 1.`];
  const secrets = secretValues(value as Record<string, unknown>);
  if (secrets.length > 0)
    return secrets.map((path) => `${where(path)}: a secret's value can't stand in a file. Write value_from: { env: NAME } instead.`);
  if (validate(asDoubles(value))) return [];
  return mostTelling(validate.errors ?? []).map((error) => {
    const path = pathOf(error.instancePath);
    return `${where(path)}: ${inWords(error)}`;
  });
}

/** `value` and the like below `secrets`, before anything else is said of the file. */
function secretValues(root: Record<string, unknown>): (string | number)[][] {
  const found: (string | number)[][] = [];
  const visit = (value: unknown, path: (string | number)[]) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, one] of Object.entries(value)) {
      const at = [...path, Array.isArray(value) ? Number(name) : name];
      if (/^(?:value|values|client_secret|password|passphrase|private_key|certificate_content|access_token|refresh_token)$/.test(name))
        found.push(at);
      else if (name !== 'value_from') visit(one, at);
    }
  };
  visit(root.secrets, ['secrets']);
  return found;
}

/** Of one place the deepest errors say most: `anyOf` only says that none of its branches fits. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject[] {
  const leaves = errors.filter(({ keyword }) => !/^(?:anyOf|oneOf|if|propertyNames)$/.test(keyword) && keyword !== 'type');
  const types = errors.filter(({ keyword }) => keyword === 'type');
  const kept = [
    ...leaves,
    // A null branch always fails by its type: said only where nothing else is.
    ...types.filter((one) => !leaves.some(({ instancePath }) => instancePath.startsWith(one.instancePath)) && one.params.type !== 'null'),
  ];
  const byPlace = new Map(
    kept.map((one) => [`${one.instancePath} ${one.keyword === 'additionalProperties' ? one.params.additionalProperty : ''}`, one]),
  );
  return byPlace.size > 0 ? [...byPlace.values()] : errors.slice(0, 1);
}

function inWords({ keyword, params, message, parentSchema }: ErrorObject): string {
  if (keyword === 'additionalProperties' && /^alerts$|^alert_channels$/.test(params.additionalProperty))
    return `${params.additionalProperty} can't be in a file, because the Management API has no operations for them. Set them up in the dashboard.`;
  if (keyword === 'additionalProperties')
    return `there is no member called ${params.additionalProperty}${suggestion(params.additionalProperty, parentSchema)}.`;
  if (keyword === 'required') return `${params.missingProperty} is required.`;
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}.`;
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}.`;
  return `${message ?? 'is not allowed'}.`;
}

function suggestion(name: string, parent: unknown): string {
  const known = Object.keys((parent as { properties?: object } | undefined)?.properties ?? {});
  if (name.endsWith('_id') && known.includes(name.slice(0, -3))) return `; write ${name.slice(0, -3)} with a name`;
  const near = known.find((one) => one.replace(/[_s]/g, '') === name.toLowerCase().replace(/[-_s]/g, ''));
  return near ? `; did you mean ${near}` : '';
}

const pathOf = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((one) => (/^\d+$/.test(one) ? Number(one) : one));

/** `routes[Stripe].environments.staging` for `['routes', 0, 'environments', 'staging']`: an item is called by its name where it has one. */
function shown(root: unknown, path: readonly (string | number)[]): string {
  let at: unknown = root;
  let text = '';
  for (const step of path) {
    at = (at as Record<string | number, unknown> | undefined)?.[step];
    const name = (at as { name?: unknown } | null | undefined)?.name;
    text += typeof step === 'number' ? `[${typeof name === 'string' ? name : step}]` : `${text ? '.' : ''}${step}`;
  }
  return text;
}

function merge(into: Configuration, { file, value, lineOf }: ParsedFile): string[] {
  const problems: string[] = [];
  const root = mapTyped(value) as { space?: 'live' | 'test'; _delete?: Partial<Record<KindName, string[]>> } & Partial<
    Record<KindName, Entry[]>
  >;
  if (root.space !== undefined && into.space !== undefined && root.space !== into.space)
    problems.push(`${file} is for the space ${root.space}, another file for ${into.space}.`);
  into.space ??= root.space;
  for (const kind of KIND_NAMES) {
    for (const [at, entry] of (root[kind] ?? []).entries()) {
      const place = `${file}:${lineOf([kind, at]) ?? 1} ${kind}[${entry.name}]`;
      const other = into.resources[kind].find((one) => sameKey(kind, one.entry, entry));
      if (other) problems.push(`${place}: ${other.place} describes the same ${oneOf(kind)}. Remove one of them.`);
      for (const field of literalCredentials(kind, entry))
        problems.push(`${place}.${field}: looks like a credential. Store it as a secret and write {{secret:NAME}} instead.`);
      into.resources[kind].push({ entry, place });
    }
    for (const name of root._delete?.[kind] ?? [])
      into.gone[kind].push({ name, place: `${file}:${lineOf(['_delete', kind]) ?? 1} _delete.${kind}` });
  }
  for (const kind of KIND_NAMES)
    for (const { name, place } of into.gone[kind])
      if (into.resources[kind].some(({ entry }) => entry.name === name))
        problems.push(`${place}: ${name} is described as well as deleted.`);
  return problems;
}

/** Members that take any JSON: their numbers keep their digits. */
const ANY_JSON = new Set(['inject_body_json', 'ip_notes', 'extra_claims']);

/** Numbers of all other members are doubles, as the service reads them: 300.0 is 300. */
function mapTyped(value: unknown): unknown {
  if (isExact(value)) return Number(value) || 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(mapTyped);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, ANY_JSON.has(name) ? one : mapTyped(one)]));
}

const sameKey = (kind: KindName, a: Entry, b: Entry): boolean =>
  a.name === b.name || ((kind === 'routes' || kind === 'collections') && typeof a.slug === 'string' && a.slug === b.slug);
