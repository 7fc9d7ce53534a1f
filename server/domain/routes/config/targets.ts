import { listReferences, parseTemplate, printTemplate, type Template } from '#server/domain/templates/grammar.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { type Draft, settingsOf } from './draft.ts';

/** A route's settings, and the collection whose variables `{{var:key}}` names. */
export type Aimed = { draft: Draft; collection_id: string | null };
/** Values that variables of one collection are about to get. */
export type NewValues = { collection_id: string; values: ReadonlyMap<string, string> };
/** Where calls go, by environment, with the values of variables in it as the gateway fills them in; what has none stays as written. */
export type Targets = ReadonlyMap<string, string>;

type Variable = { key: string; type: string; value: string | null; collection_id: string; collection: { slug: string } };

/** The targets of several settings, with one look at the variables; `changed` reads them as they will be. */
export async function targetsOf(tx: Tx, ctx: Ctx, aimed: readonly Aimed[]): Promise<(changed?: NewValues) => Targets[]> {
  const parsed = aimed.map(({ draft, collection_id }) => ({
    collection_id,
    templates: [...draft.locals.keys()].map((name) => [name, templateOf(settingsOf(draft, name).target_base_url)] as const),
  }));
  const keys = parsed.flatMap(({ templates }) =>
    templates.flatMap(([, template]) => listReferences(template).flatMap((r) => (r.kind === 'var' ? [r.key] : []))),
  );
  const variables: Variable[] =
    keys.length === 0
      ? []
      : await tx.collection_variables.findMany({
          where: { ...own(ctx), key: { in: [...new Set(keys)] } },
          select: { key: true, type: true, value: true, collection_id: true, collection: { select: { slug: true } } },
        });
  const byKey = Map.groupBy(variables, ({ key }) => key);
  return (changed) =>
    parsed.map(
      ({ templates, collection_id }) =>
        new Map(templates.map(([name, template]) => [name, filled(template, collection_id, byKey, changed)])),
    );
}

const templateOf = (text: string): Template => {
  const parsed = parseTemplate(text);
  return parsed.ok ? parsed.template : [{ kind: 'literal', text }];
};

function filled(template: Template, collectionId: string | null, byKey: ReadonlyMap<string, Variable[]>, changed?: NewValues): string {
  return printTemplate(
    template.map((part) => {
      if (part.kind !== 'var') return part;
      const variable = byKey
        .get(part.key)
        ?.find((one) => (part.collection === null ? one.collection_id === collectionId : one.collection.slug === part.collection));
      const coming = variable && variable.collection_id === changed?.collection_id ? changed.values.get(part.key) : undefined;
      const text = coming ?? (variable?.type === 'value' ? variable.value : null);
      return text === null || text === undefined ? part : { kind: 'literal', text };
    }),
  );
}
