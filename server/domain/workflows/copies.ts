import type { z } from 'zod';
import { mapTexts, type Text } from '#server/domain/templates/texts.shared.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { type Definition, graphOf } from './definition.shared.ts';
import { secretsNamed } from './publishable.shared.ts';
import type { ImportWorkflow } from './schema.ts';
import { insertWorkflow, shown } from './service.ts';
import { entryOf, workflowById } from './store.ts';

const LONGEST_NAME = 200;

/** A copy of what the editor shows, off. @throws Refusal not_found, plan_limit, forbidden for secrets that the person can't read */
export function duplicateWorkflow(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const { name, description, environment, timeout_seconds, draft, definition } = await workflowById(tx, ctx, id);
    const copy = await insertWorkflow(tx, ctx, {
      ...{ name: `Copy of ${name}`.slice(0, LONGEST_NAME).trim(), description, environment, timeout_seconds },
      ...{ definition: graphOf(draft ?? definition), enabled: false },
    });
    return audited(shown(copy), entryOf('create', copy, { copy_of: id }));
  });
}

/** The live definition as a document for another space or workspace. Secrets are in it by their names alone. @throws Refusal not_found */
export const exportWorkflow = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const { name, description, environment, timeout_seconds, definition } = await workflowById(tx, ctx, id);
    const secrets = secretsNamed(graphOf(definition)).map(({ secret }) => secret);
    return {
      ...{ kind: 'workflow' as const, name, description, environment, timeout_seconds },
      ...{ definition: definition as Record<string, unknown>, secrets: [...new Set(secrets)].sort() },
    };
  });

/** A new workflow, off, from an export. An environment that doesn't exist here is left out with a warning. @throws Refusal validation_error, plan_limit, forbidden */
export function importWorkflow(ctx: Ctx, { workflow, name, secrets = {} }: z.output<typeof ImportWorkflow>) {
  return mutate(ctx, async (tx) => {
    const wanted = workflow.environment ?? null;
    const known =
      wanted === null
        ? null
        : await tx.environments.findFirst({
            where: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, name: wanted },
            select: { name: true },
          });
    if (wanted !== null && !known) ctx.warnings.push(`The environment ${wanted} doesn't exist in this space: the workflow has none.`);
    const row = await insertWorkflow(tx, ctx, {
      ...{
        name: (name ?? workflow.name).slice(0, LONGEST_NAME),
        description: workflow.description,
        timeout_seconds: workflow.timeout_seconds,
      },
      ...{ environment: known?.name ?? null, definition: renamed(workflow.definition, secrets), enabled: false },
    });
    return audited(shown(row), entryOf('create', row, { imported: true }));
  });
}

const NAMED = /\{\{\s*secret:([A-Za-z0-9_.-]{1,128})\s*\}\}/g;

/** The definition with the names of its secrets replaced, wherever it names one. */
function renamed(definition: Definition, names: Readonly<Record<string, string>>): Definition {
  const replaced = ({ text }: Text): string =>
    text.replaceAll(NAMED, (whole, name: string) => (Object.hasOwn(names, name) ? `{{secret:${names[name]}}}` : whole));
  return mapTexts(definition, replaced) as Definition;
}
