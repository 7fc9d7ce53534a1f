import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fail } from './command.ts';

// node scripts/kubernetes-schemas.ts <folder>   writes the JSON schemas of Kubernetes' objects into <folder>/kubernetes, outside of the repository;
//                                               VECTORS_DIR=<folder> npm test scripts/deploy.test.ts   then checks the chart with kubeconform
//
// They are made of the OpenAPI document in the Go module of Kubernetes (Apache-2.0), through go and its proxy. As strict as the API server with field validation:
// a field that no object of its kind has is an error.

const VERSION = 'v1.33.7';

type Schema = { properties?: Record<string, Schema>; additionalProperties?: unknown; [key: string]: unknown };
type Definition = Schema & { 'x-kubernetes-group-version-kind'?: { group: string; kind: string; version: string }[] };

const [given] = process.argv.slice(2);
if (!given) fail('Name the folder to write the schemas to: node scripts/kubernetes-schemas.ts <folder>');
const target = path.resolve(given, 'kubernetes');
if (!path.relative('.', target).startsWith('..')) fail('The schemas are too large for the repository. Choose a folder outside of it.');

const { definitions } = JSON.parse(fs.readFileSync(path.join(moduleFolder(), 'api/openapi-spec/swagger.json'), 'utf8')) as {
  definitions: Record<string, Definition>;
};
for (const definition of Object.values(definitions)) closed(definition);
// Numbers that are written as text, or text as numbers.
definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'] = { oneOf: [{ type: 'string' }, { type: 'integer' }] };
definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'] = { oneOf: [{ type: 'string' }, { type: 'number' }] };
fs.mkdirSync(target, { recursive: true });
fs.writeFileSync(path.join(target, '_definitions.json'), JSON.stringify({ definitions }));
let written = 0;
for (const [name, definition] of Object.entries(definitions))
  for (const { group, kind, version } of definition['x-kubernetes-group-version-kind'] ?? []) {
    const file = [kind, group.split('.')[0], version].filter(Boolean).join('-').toLowerCase();
    fs.writeFileSync(path.join(target, `${file}.json`), JSON.stringify({ $ref: `_definitions.json#/definitions/${name}` }));
    written++;
  }
console.log(`${written} schemas of Kubernetes ${VERSION} in ${target}`);

/** Where go has unpacked the module, which it checks against the checksum database. */
function moduleFolder(): string {
  try {
    const told = execFileSync('go', ['mod', 'download', '-json', `k8s.io/kubernetes@${VERSION}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return (JSON.parse(told) as { Dir: string }).Dir;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') fail('go is not installed. It fetches the module that carries the schemas.');
    throw error;
  }
}

function closed(schema: Schema): void {
  if (!schema.properties) return;
  schema.additionalProperties ??= false;
  for (const inner of Object.values(schema.properties)) closed(inner);
}
