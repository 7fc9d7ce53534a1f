'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { listOf } from '#components/secrets/secret-text.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { Elements } from '#server/domain/elements/schema.ts';

const loadFields = () => import('./form-schemas.ts').then((module) => module.OriginFields);

/** Which pages may show hosted fields. */
export function OriginsCard() {
  const trpc = useTRPC();
  const elements = useQuery(trpc.elements.get.queryOptions({}));
  return (
    <SectionCard title="Element origins" description="Pages that may show hosted fields. Live and Test have lists of their own.">
      {elements.isError ? (
        <QueryError query={elements} what="Element origins" />
      ) : elements.data ? (
        <OriginsForm elements={elements.data} />
      ) : (
        <Skeleton lines={3} label="Loading Element origins" />
      )}
    </SectionCard>
  );
}

const valuesOf = ({ origins }: Pick<Elements, 'origins'>) => ({ origins: origins.join('\n') });

function OriginsForm({ elements }: { elements: Elements }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const forbidden = useForbidden('settings:update');
  const form = useZodForm({ schema: loadFields, defaultValues: valuesOf(elements) });
  const { refusal, refuse, clear } = useFormRefusal(form);
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const save = useMutation(
    trpc.elements.setOrigins.mutationOptions({
      onError: refuse,
      onSuccess: (after) => {
        cache.setQueryData(trpc.elements.get.queryKey({}), after);
        form.reset(valuesOf(after));
        notifyDone('Element origins saved');
      },
    }),
  );
  return (
    <Form
      form={form}
      refusal={refusal}
      onSubmit={({ origins }) => {
        clear();
        save.mutate({ origins: listOf(origins) });
      }}
    >
      <Field
        label="Origins"
        error={fieldError(form, 'origins')}
        hint={
          space === 'test'
            ? 'One per line: https://host, or http://localhost:port for development.'
            : 'One per line: https://host or https://host:port.'
        }
      >
        <Textarea
          mono
          rows={3}
          readOnly={forbidden !== undefined}
          placeholder={space === 'test' ? 'http://localhost:5173' : 'https://shop.example.com'}
          {...form.register('origins')}
        />
      </Field>
      <div>
        <Button type="submit" size="sm" loading={save.isPending} disabledReason={forbidden ?? (dirty ? undefined : 'No changes to save')}>
          Save origins
        </Button>
      </div>
    </Form>
  );
}
