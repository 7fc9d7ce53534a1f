import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { adds, type Looser, loosened } from '#server/kernel/loosening.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { canonicalOrigins } from '#server/kernel/page-origins.ts';
import { elementFile } from '#server/platform/element-files.ts';
import { env } from '#server/platform/env.ts';
import type { Elements, SetElementOrigins } from './schema.ts';

/** The browser library of the space with its integrity, and the pages that may show hosted fields. */
export const getElements = (ctx: Ctx): Promise<Elements> => read(ctx, async (tx) => viewOf(ctx, await rowOf(tx, ctx)));

/** Replaces the list. @throws Refusal validation_error that names the first origin that is none */
export async function setElementOrigins(ctx: Ctx, input: z.output<typeof SetElementOrigins>): Promise<Elements> {
  const verdict = canonicalOrigins(input.origins, ctx.sandbox);
  if (!verdict.ok) throw invalid('origins', verdict.problem);
  const origins = verdict.value;
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:element_settings:${ctx.sandbox}`);
    const before = await rowOf(tx, ctx);
    const changes = changesOf({ origins: before?.origins ?? [] }, { origins }, ['origins']);
    if (changes.length === 0) return unchanged(viewOf(ctx, before));
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened({ origins: before?.origins ?? [] }, { origins }, ELEMENT_PROTECTIONS));
    const after = await tx.element_settings.upsert({
      where: { tenant_id_sandbox: own(ctx) },
      create: { ...own(ctx), origins, updated_at: ctx.now },
      update: { origins, updated_at: ctx.now },
    });
    return audited(viewOf(ctx, after), {
      action: 'update',
      resource_type: 'element_settings',
      resource_id: null,
      name: 'Element origins',
      changes,
    });
  });
}

/** A page of an origin that is added can ask people for card numbers in the name of the workspace. */
export const ELEMENT_PROTECTIONS: Looser<{ origins: string[] }> = { origins: adds };

type Row = { origins: string[]; updated_at: Date };

const rowOf = (tx: Tx, ctx: Ctx): Promise<Row | null> => tx.element_settings.findUnique({ where: { tenant_id_sandbox: own(ctx) } });

function viewOf(ctx: Ctx, row: Row | null): Elements {
  const { integrity, version } = elementFile('seal.js');
  const script_url = `${ctx.sandbox ? env.PUBLIC_SANDBOX_API_URL : env.PUBLIC_API_URL}/elements/v1/seal.js`;
  return {
    script_url,
    versioned_url: `${script_url}?v=${version}`,
    integrity,
    origins: row?.origins ?? [],
    updated_at: row?.updated_at.toISOString() ?? null,
  };
}
