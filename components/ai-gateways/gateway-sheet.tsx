'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { slug, usd } from '#server/domain/ai-gateways/values.schema.ts';
import { slugOf } from './ai-labels.ts';

const NewGateway = z.object({
  name: z.string().trim().min(1, 'is required').max(100),
  slug: z.union([z.literal(''), slug()]),
  description: z.string().max(1_000),
  budget_daily_usd: z.union([z.literal(''), usd()]),
  budget_monthly_usd: z.union([z.literal(''), usd()]),
});

type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Makes a gateway, with the budget of everything in it. */
export function GatewaySheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New gateway"
      description="One budget and one kill switch for the agents and MCP servers in it."
    >
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({
    schema: NewGateway,
    defaultValues: { name: '', slug: '', description: '', budget_daily_usd: '', budget_monthly_usd: '' },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.aiGateways.create.mutationOptions({
      onError: refuse,
      onSuccess: ({ id, name }) => {
        void cache.invalidateQueries(trpc.aiGateways.pathFilter());
        void cache.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Gateway ${name} created`);
        onCreated(id);
      },
    }),
  );
  const inputOf = ({ name, slug: chosen, description, ...budgets }: z.input<typeof NewGateway>) => ({
    name,
    slug: chosen || slugOf(name),
    ...(description === '' ? {} : { description }),
    ...(budgets.budget_daily_usd === '' ? {} : { budget_daily_usd: budgets.budget_daily_usd }),
    ...(budgets.budget_monthly_usd === '' ? {} : { budget_monthly_usd: budgets.budget_monthly_usd }),
  });
  const values = form.watch();
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        create.mutate(inputOf(value));
      }}
    >
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="Production" autoComplete="off" {...form.register('name')} />
      </Field>
      <Field label="Slug" error={fieldError(form, 'slug')} hint="Identifies it in commands. It can’t be changed.">
        <Input mono placeholder={slugOf(values.name) || 'production'} autoComplete="off" {...form.register('slug')} />
      </Field>
      <Field label="Description" optional error={fieldError(form, 'description')}>
        <Textarea rows={2} {...form.register('description')} />
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Budget per day" optional error={fieldError(form, 'budget_daily_usd')} hint="Resets at 00:00 UTC.">
          <Input inputMode="decimal" suffix="USD" placeholder="No limit" {...form.register('budget_daily_usd')} />
        </Field>
        <Field label="Budget per month" optional error={fieldError(form, 'budget_monthly_usd')} hint="Resets on the first, UTC.">
          <Input inputMode="decimal" suffix="USD" placeholder="No limit" {...form.register('budget_monthly_usd')} />
        </Field>
      </div>
      <ApiEquivalent method="POST" path="/ai-gateway/gateways" body={inputOf({ ...values, name: values.name || 'NAME' })} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create gateway
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
