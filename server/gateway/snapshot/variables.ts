import type { Variable } from './model.ts';
import { defineSlice, OF_SPACE } from './slice.ts';

type CollectionRow = { id: string; slug: string };
type VariableRow = { collection_id: string; key: string; type: string; value: string | null; secret_id: string | null };

export const variables = defineSlice({
  name: 'variables',
  tables: ['collections', 'collection_variables'],
  queries: {
    collections: `select tenant_id, sandbox, id, slug from collections where ${OF_SPACE}`,
    variables: `select tenant_id, sandbox, collection_id, key, type, value, secret_id from collection_variables where ${OF_SPACE}`,
  },
  compile(rows: { collections: CollectionRow[]; variables: VariableRow[] }) {
    const collectionOf = new Map(rows.collections.map((row) => [row.slug, row.id]));
    const byKey = new Map<string, Variable & { collectionId: string }>();
    for (const row of rows.variables) {
      const variable: Variable =
        row.type === 'secret' ? { type: 'secret', secretId: row.secret_id ?? '' } : { type: 'value', value: row.value ?? '' };
      byKey.set(`${row.collection_id} ${row.key}`, { ...variable, collectionId: row.collection_id });
    }
    return {
      /** `collection` is a slug, or null for the collection with `collectionId`. */
      variable(collection: string | null, key: string, collectionId: string | null): (Variable & { collectionId: string }) | undefined {
        const id = collection === null ? collectionId : collectionOf.get(collection);
        return id ? byKey.get(`${id} ${key}`) : undefined;
      },
    };
  },
  size: (rows) => rows.variables.length,
});
