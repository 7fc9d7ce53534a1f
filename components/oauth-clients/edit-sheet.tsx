'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { isInteractive } from '#server/domain/oauth-clients/grants.shared.ts';
import { ClientFields, clientFields, clientInput } from './client-fields.tsx';
import type { Detail } from './client-labels.ts';
import { urisOf, urisProblem } from './redirect-uri-text.ts';

const Edited = z.object({ ...clientFields, consent_html_template: z.string().max(10_000) });
type Values = z.input<typeof Edited>;

const valuesOf = (client: Detail): Values => ({
  name: client.name,
  redirect_uris: client.redirect_uris.join('\n'),
  allowed_scopes: [...client.allowed_scopes],
  step_up_scopes: [...client.step_up_scopes],
  require_dpop: client.require_dpop,
  consent_html_template: client.consent_html_template ?? '',
});
const LABELS = {
  redirect_uris: 'Redirect URIs',
  allowed_scopes: 'Allowed scopes',
  step_up_scopes: 'Second factor',
  require_dpop: 'Require DPoP',
  consent_html_template: 'Consent text',
};

/** Changes a client. Its type and grants are fixed. */
export function EditClientSheet({ client, open, onClose }: { client: Detail; open: boolean; onClose: () => void }) {
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} dismissible={false} title={`Edit ${client.name}`}>
      {open && <EditForm client={client} onClose={onClose} />}
    </Sheet>
  );
}

function EditForm({ client, onClose }: { client: Detail; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const needsUris = client.grant_types.includes('authorization_code');
  const form = useZodForm({
    schema: Edited.superRefine(({ redirect_uris }, context) => {
      const none = needsUris && urisOf(redirect_uris).length === 0;
      const message = none ? 'add at least one' : urisProblem(redirect_uris, client.type);
      if (message) context.addIssue({ code: 'custom', path: ['redirect_uris'], message });
    }),
    defaultValues: valuesOf(client),
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: client,
    values: valuesOf,
    labels: LABELS,
    draft: { name: `oauth-clients/${client.id}` },
    onNothingLeft: onClose,
  });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.oauthClients.update.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        forget();
        void queryClient.invalidateQueries(trpc.oauthClients.pathFilter());
        notifyDone('OAuth client saved');
        onClose();
      },
    }),
  );
  const people = isInteractive(client.grant_types);
  const inputOf = ({ consent_html_template, ...value }: Values) =>
    ({
      ...clientInput(value),
      ...(people ? { consent_html_template: consent_html_template.trim() === '' ? null : consent_html_template } : {}),
    }) as Omit<Parameters<typeof update.mutate>[0], 'id'>;
  const values = form.watch();
  const removed = client.allowed_scopes.filter((scope) => !values.allowed_scopes.includes(scope));
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        update.mutate({ id: client.id, ...inputOf(value), expected_updated_at: started() } as Parameters<typeof update.mutate>[0]);
      }}
    >
      {panel}
      <ClientFields form={form} kind={client} />
      {people && (
        <Field
          label="Consent text"
          optional
          error={fieldError(form, 'consent_html_template')}
          hint="Shown below the standard text when people grant access. p, ul, ol, li, strong, em, br and https links are kept."
        >
          <Textarea rows={3} {...form.register('consent_html_template')} />
        </Field>
      )}
      <p className="text-ink-3 text-xs">
        {removed.length > 0
          ? `Tokens that are already out lose ${removed.join(', ')} on their next request.`
          : 'Adding scopes or redirect URIs asks for your second factor. The type and the grants of a client can’t be changed.'}
      </p>
      <ApiEquivalent oauth method="PATCH" path={`/oauth-clients/${client.id}`} body={inputOf(values)} />
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={update.isPending}
            disabledReason={dirty ? undefined : 'No changes to save'}
          >
            Save
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
