'use client';

import { z } from 'zod';
import { resourcesOf } from '#components/roles/permissions.ts';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { fieldError, type ZodForm } from '#components/ui/form.tsx';
import type { SelectOption } from '#components/ui/select.tsx';
import { keyCapabilities, scopeCapabilities } from '#server/domain/roles/catalogue.shared.ts';

/** What only access keys have, as it is chosen. No scope: all that the roles allow. */
export const accessKeyFields = { scopes: z.array(z.string()) };
const Fields = z.object({ ...accessKeyFields, role_ids: z.array(z.string()) });
type Values = z.input<typeof Fields>;

/** The scopes an access key is narrowed to. */
export function AccessKeyFields<T extends Values>({ form: given, narrowed }: { form: ZodForm<T, T>; narrowed?: boolean }) {
  // The fields below exist in every form this is given to; the generic form's own paths cannot say so.
  const form = given as unknown as ZodForm<Values>;
  const { scopes, role_ids } = form.watch();
  const operations = useListedOperations();
  const held = keyCapabilities(role_ids);
  const idle = scopes.filter((scope) => ![...scopeCapabilities([scope])].some((capability) => held.has(capability)));
  return (
    <Field
      label="Scopes"
      optional={!narrowed}
      error={fieldError(form, 'scopes')}
      hint={
        narrowed
          ? 'Limits the key to part of what its roles allow. Scopes can’t be removed entirely: for full access, create another key.'
          : 'Limits the key to part of what its roles allow. Leave empty to allow everything its roles do.'
      }
    >
      <MultiCombobox
        values={scopes}
        onValuesChange={(next) => form.setValue('scopes', next, { shouldDirty: true })}
        options={scopeOptions(operations.data ?? [])}
        loading={operations.isPending}
        placeholder={scopes.length > 0 ? 'Add a scope…' : 'Everything its roles allow'}
      />
      {idle.length > 0 && <p className="text-warn-ink text-xs">The selected roles don’t include {idle.join(', ')}.</p>}
    </Field>
  );
}

/** The scopes of what can be done in this release, each with what it covers. */
function scopeOptions(operations: Parameters<typeof resourcesOf>[0]): SelectOption[] {
  const covers = new Map<string, string[]>();
  for (const { permissions } of resourcesOf(operations))
    for (const { scope, summaries } of permissions.flatMap(({ actions }) => actions))
      if (scope) covers.set(scope, [...(covers.get(scope) ?? []), ...summaries]);
  return [...covers]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([scope, covered]) => ({ value: scope, label: scope, detail: covered.join(', ') }));
}
