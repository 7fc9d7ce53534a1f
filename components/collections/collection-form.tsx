'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CreateCollection, collectionSlugFrom } from '#server/domain/collections/schema.ts';
import { SIGNS } from './collection-mark.tsx';

const FORM = 'collection-form';
type Edited = {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  color: string | null;
  icon: string | null;
  updated_at: string;
};
export type CollectionFormProps = {
  open: boolean;
  /** Absent makes a new one. */
  collection: Edited | undefined;
  onClose: () => void;
};

/** Makes or changes a collection. */
export function CollectionForm({ open, collection, onClose }: CollectionFormProps) {
  const readOnly = useForbidden('collection:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={collection ? `Edit ${collection.name}` : 'New collection'}
      size="sm"
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={readOnly}>
            {collection ? 'Save' : 'Create collection'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          collection={collection}
          onDirty={setDirty}
          onDone={() => {
            setDirty(false);
            onClose();
          }}
        />
      )}
    </Sheet>
  );
}

const valuesOf = ({ name, slug, description, color, icon }: Edited) => ({ name, slug, description, color, icon });

function Fields({
  collection,
  onDirty,
  onDone,
}: {
  collection: Edited | undefined;
  onDirty: (dirty: boolean) => void;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const form = useZodForm({
    schema: CreateCollection,
    defaultValues: collection ? valuesOf(collection) : { name: '' },
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: collection,
    values: valuesOf,
    labels: { color: 'Color', icon: 'Icon' },
    draft: { name: `collections/${collection?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const create = useMutation(
    trpc.collections.create.mutationOptions({
      onSuccess: async (made) => {
        forget();
        await Promise.all([cache.invalidateQueries(trpc.collections.pathFilter()), cache.invalidateQueries(trpc.account.pathFilter())]);
        // In place of the open form, which Back must not show again.
        router.replace(path(`/collections/${made.id}`));
      },
      onError: refuse,
    }),
  );
  const update = useMutation(
    trpc.collections.update.mutationOptions({
      onSuccess: async () => {
        forget();
        notifyDone('Saved');
        await cache.invalidateQueries(trpc.collections.pathFilter());
        onDone();
      },
      onError: refuse,
    }),
  );
  const values = form.watch();
  useUnsavedGuard(form.formState.isDirty, onDirty);
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async (value) => {
        clear();
        const call = collection
          ? update.mutateAsync({ id: collection.id, ...value, expected_updated_at: started() })
          : create.mutateAsync(value);
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="Payments" {...form.register('name')} />
      </Field>
      <Field
        label="Slug"
        optional={!collection}
        error={fieldError(form, 'slug')}
        hint={
          <>
            Variables are written{' '}
            <span className="font-mono">{`{{var:${values.slug || (values.name ? collectionSlugFrom(values.name) : 'payments')}.key}}`}</span>{' '}
            outside the collection.{collection && ' The slug can’t be changed later.'}
          </>
        }
      >
        <Input
          mono
          readOnly={collection !== undefined}
          placeholder={values.name ? collectionSlugFrom(values.name) : 'Generated from the name'}
          {...form.register('slug', { setValueAs: (text: unknown) => text || undefined })}
        />
      </Field>
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description', { setValueAs: (text: unknown) => text || null })} />
      </Field>
      <Field label="Color" optional error={fieldError(form, 'color')} hint="For example, #6366f1.">
        <Input mono placeholder="#6366f1" {...form.register('color', { setValueAs: (text: unknown) => text || null })} className="w-32" />
      </Field>
      <Field label="Icon" group error={fieldError(form, 'icon')}>
        <SignChoice value={values.icon ?? null} onChange={(icon) => form.setValue('icon', icon, { shouldDirty: true })} />
      </Field>
      <ApiEquivalent
        method={collection ? 'PATCH' : 'POST'}
        path={collection ? `/collections/${collection.id}` : '/collections'}
        body={Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== '' && value !== null))}
      />
    </Form>
  );
}

function SignChoice({ value, onChange }: { value: string | null; onChange: (icon: string | null) => void }) {
  return (
    <div className="flex flex-wrap gap-1.5">
      {Object.entries(SIGNS).map(([name, { label, icon: Sign }]) => (
        <button
          key={name}
          type="button"
          aria-label={label}
          title={label}
          aria-pressed={value === name}
          onClick={() => onChange(value === name ? null : name)}
          className={cn(
            'inline-flex size-8 items-center justify-center rounded-md border text-ink-2',
            value === name ? 'border-accent-line bg-accent-soft text-accent-ink' : 'border-line-strong hover:border-line-control',
          )}
        >
          <Sign aria-hidden className="size-4" />
        </button>
      ))}
    </div>
  );
}
