import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import type { Family } from '#server/kernel/family.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { families } from './families.ts';
import { LIMITS } from './plans/schema.ts';

await testDatabase();

const list: readonly Family[] = families;
const tables = list.flatMap(({ tables = [] }) => tables);
const resources = list.flatMap(({ resources = [] }) => resources);
const sorted = (names: Iterable<string>) => [...names].sort();

test('every folder with operations or a descriptor is a family of the list, and declares what it has', () => {
  const folders = globSync('server/domain/*/{operations,descriptions,family}.ts').map((file) => file.split('/')[2] ?? '');
  assert.deepEqual(sorted(new Set(folders)), sorted(list.map(({ name }) => name)));
  for (const { name, tag, namespace, operations, descriptions, leases } of list) {
    const files = new Set(globSync(`server/domain/${name}/*.ts`).map((file) => file.split('/')[3]));
    assert.equal(files.has('operations.ts'), operations !== undefined, name);
    assert.equal(files.has('descriptions.ts'), descriptions !== undefined, name);
    assert.equal(files.has('family.test.ts'), operations !== undefined, `${name}: family.test.ts runs the derived suites`);
    assert.equal(files.has('leases.ts'), leases !== undefined, name);
    assert.equal(tag === undefined, descriptions === undefined, `${name}: a tag goes with descriptions`);
    assert.equal(operations !== undefined, namespace !== undefined, `${name}: a namespace goes with operations`);
  }
});

test('no two families have a name, router, tag, namespace, resource or table in common', () => {
  const assertDistinct = (values: readonly (string | undefined)[]) => {
    const given = values.filter((value) => value !== undefined);
    assert.deepEqual(sorted(given), sorted(new Set(given)));
  };
  assertDistinct(list.map(({ name }) => name));
  assertDistinct(list.map(({ router }) => router));
  assertDistinct(list.map(({ tag }) => tag));
  assertDistinct(list.filter(({ tag, router }) => tag ?? router).map(({ namespace }) => namespace));
  assertDistinct(resources.map(({ type }) => type));
  assertDistinct(tables.map(({ name }) => name));
  assertDistinct(list.flatMap(({ jobs = {}, leases = {} }) => [...Object.keys(jobs), ...Object.keys(leases)]));
});

test('every resource type that an audit entry names in the code is declared by a family', () => {
  const declared = new Set(resources.map(({ type }) => type));
  const unknown = globSync('server/**/*.ts', { exclude: ['server/generated/**', 'server/testing/**'] })
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/resource_type: '(\w+)'/g)].map(([, type = '']) => ({ file, type })))
    .filter(({ type }) => !declared.has(type));
  assert.deepEqual(unknown, []);
});

test('no code outside of a family names its operations: what goes over all of them reads the list', () => {
  const owners = new Map(
    list.flatMap(({ name, operations = {} }) => Object.values(operations).map((row: { id?: string }) => [row.id, name] as const)),
  );
  const named = globSync('{server,scripts}/**/*.ts', { exclude: ['server/generated/**', 'scripts/bench/**'] })
    // The register of what people confirm: a scope may be called like the operation that asks for it.
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file) && file !== 'server/kernel/action-scopes.ts')
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/'(\w+(?:\.\w+)+)'/g)].map(([, id]) => ({ file, id, owner: owners.get(id) })),
    )
    // Scopes of a confirmation are names of their own, and some are spelled like an operation.
    .filter(({ file }) => file !== 'server/kernel/action-scopes.ts')
    .filter(({ file, id, owner }) => owner && !file.startsWith(`server/domain/${owner}/`) && !isOfNamespace(file, id));
  assert.deepEqual([...new Set(named.map(({ file, id }) => `${file} ${id}`))], []);
});
/** `routes.logs` is declared by request-logs and described by routes. */
const isOfNamespace = (file: string, id = '') => {
  const family = list.find(({ namespace }) => namespace === id.split('.')[0]);
  return family !== undefined && file.startsWith(`server/domain/${family.name}/`);
};

test('every limit of a resource is in the register of plan limits, and is called like the table whose rows are counted', () => {
  for (const { resources = [], tables = [] } of list)
    for (const { type, limit } of resources)
      assert.ok(limit === undefined || (limit in LIMITS && tables.some(({ name }) => name === limit)), type);
});

test('every table of a workspace is declared by a family, and those of a space that the tenant role reaches have row-level security', async () => {
  const { rows } = await sql().query<{ name: string; secured: boolean; reachable: boolean }>(
    `select c.relname as name, c.relrowsecurity as secured, has_table_privilege('sallyport_app', c.oid, 'select, insert, update, delete') as reachable
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  assert.deepEqual(sorted(tables.map(({ name }) => name)), sorted(rows.map(({ name }) => name)));
  assert.deepEqual(
    rows.filter(({ secured, reachable }) => reachable && !secured).map(({ name }) => name),
    [],
  );
});

test('a reset goes through tables before those that their rows hold on to', async () => {
  const { rows } = await sql().query<{ from: string; to: string; cascades: boolean }>(
    `select f.relname as from, t.relname as to, k.confdeltype = 'c' as cascades from pg_constraint k
     join pg_class f on f.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     where k.contype = 'f' and k.connamespace = 'public'::regnamespace and not f.relispartition`,
  );
  const byName = new Map(tables.map((table) => [String(table.name), table]));
  for (const { from, to, cascades } of rows) {
    const [referring, referred] = [byName.get(from), byName.get(to)];
    if (referring?.reset !== 'delete' || referred?.reset !== 'delete' || cascades) continue;
    assert.ok(
      referring.before?.some((name) => name === to),
      `${from} refers to ${to}: declare it in \`before\``,
    );
  }
  for (const { name, reset } of tables.filter(({ reset }) => reset === 'cascade')) {
    const follows = rows.some(({ from, to, cascades }) => from === name && cascades && byName.get(to)?.reset !== 'stay');
    assert.ok(follows || KEPT_BY_TRIGGERS.has(name), `${name} is declared to ${reset}, and no foreign key makes it`);
  }
});
const KEPT_BY_TRIGGERS: ReadonlySet<string> = new Set(['search_documents', 'row_counts']);
