'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { handOver, madeIn } from '#components/trpc/handover.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { ClientFields, clientFields, clientInput } from './client-fields.tsx';
import { USE_CASE_IDS, USE_CASES, type UseCase } from './client-labels.ts';
import { urisOf, urisProblem } from './redirect-uri-text.ts';

const NewClient = z.object({ ...clientFields, use_case: z.enum(USE_CASE_IDS) }).superRefine(({ use_case, redirect_uris }, context) => {
  const { type, grant_types } = kindOf(use_case);
  if (!(grant_types as readonly string[]).includes('authorization_code')) return;
  const message = urisOf(redirect_uris).length === 0 ? 'add at least one' : urisProblem(redirect_uris, type);
  if (message) context.addIssue({ code: 'custom', path: ['redirect_uris'], message });
});
const kindOf = (id: UseCase['id']): UseCase => USE_CASES.find((one) => one.id === id) as UseCase;

type Props = { open: boolean; onClose: () => void; onCreated: (id: string) => void };

/** Makes a client by what somebody builds; its secret is handed over once. */
export function CreateClientSheet({ open, onClose, onCreated }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="New OAuth client"
      description="What do you want to connect?"
    >
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Sheet>
  );
}

function CreateForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const scope = useScope();
  const form = useZodForm({
    schema: NewClient,
    defaultValues: { use_case: 'server', name: '', redirect_uris: '', allowed_scopes: [], step_up_scopes: [], require_dpop: false },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.oauthClients.create.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ id, client_id, client_secret }) => {
        void queryClient.invalidateQueries(trpc.oauthClients.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        if (client_secret)
          handOver([
            { name: 'client_secret', value: client_secret, person: scope.person, from: `${madeIn(scope)} The client ID is ${client_id}.` },
          ]);
        else notifyDone('OAuth client created');
        // The answer holds the secret; the card above has the only copy now.
        create.reset();
        onCreated(id);
      },
    }),
  );
  const inputOf = ({ use_case, ...value }: z.output<typeof NewClient>) => {
    const { type, grant_types } = kindOf(use_case);
    const { redirect_uris, step_up_scopes, require_dpop, ...rest } = clientInput(value);
    return {
      ...rest,
      type,
      grant_types: [...grant_types],
      ...((grant_types as readonly string[]).includes('authorization_code') ? { redirect_uris, step_up_scopes } : {}),
      ...(require_dpop ? { require_dpop } : {}),
    } as Parameters<typeof create.mutate>[0];
  };
  const values = form.watch();
  const kind = kindOf(values.use_case);
  return (
    <Form
      form={form}
      onSubmit={(value) => {
        clear();
        create.mutate(inputOf(value));
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <Field group label="Use case">
        <RadioCards
          columns={2}
          value={values.use_case}
          onValueChange={(next) => form.setValue('use_case', next, { shouldDirty: true })}
          options={USE_CASES.map(({ id, title, description }) => ({ value: id, title, description }))}
        />
      </Field>
      <ClientFields form={form} kind={kind} />
      <ApiEquivalent oauth method="POST" path="/oauth-clients" body={inputOf({ ...values, name: values.name || 'NAME' })} />
      <SheetFooter>
        <SpaceNote space={scope.space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Create client
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
